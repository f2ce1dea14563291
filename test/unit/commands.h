/* Commands to a master under test, from the client at slot UNIT_ASKER, and what it answers. */
#ifndef DLSI_UNIT_COMMANDS_H
#define DLSI_UNIT_COMMANDS_H

#include "base/json.h"
#include "test/unit/machine.h"

enum { UNIT_ASKER = 200 };

/* Registers the client that asks; its jobs name the specification 0, {"handler":"work"}. */
void unit_register_asker(struct unit_machine *master);

/* The answer, to be freed with cJSON_Delete; the test fails if there is none. */
cJSON *unit_ask(struct unit_machine *master, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The command is refused with this code and a sentence that has these words. */
void unit_ask_in_vain(struct unit_machine *master, const char *json, int code, const char *words);

/* Members of an answer: the test fails where there are none of that kind. */
const char *unit_text(const cJSON *json, const char *name);
double unit_number(const cJSON *json, const char *name);
const cJSON *unit_array(const cJSON *json, const char *name);

#endif
