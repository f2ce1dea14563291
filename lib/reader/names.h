/* Which value a name stands for. ONNX gives every value one name, and one thing may define it: an initializer, an
 * input, a node's output; an initializer may be listed as an input too and is then its default.
 *
 * A sorted array: no hash that a hostile file could aim at. Not thread-safe. */
#ifndef DLSI_NAMES_H
#define DLSI_NAMES_H

#include "base/alloc.h"
#include "base/error.h"
#include <stdint.h>

enum dlsi_definition_kind { DLSI_DEFINED_CONSTANT, DLSI_DEFINED_INPUT, DLSI_DEFINED_OUTPUT };

struct dlsi_definition {
	const char *name; /* borrowed */
	enum dlsi_definition_kind kind;
	uint32_t value;
};

struct dlsi_names {
	struct dlsi_definition *at;
	size_t count;
	size_t capacity;
	const struct dlsi_alloc *alloc;
};

/* Room for `capacity` definitions. Errors: DLS_ENOMEM. */
int dlsi_names_init(struct dlsi_names *names, const struct dlsi_alloc *alloc, size_t capacity);
void dlsi_names_fini(struct dlsi_names *names);

/* Within the capacity; before dlsi_names_close. */
void dlsi_names_add(struct dlsi_names *names, const char *name, enum dlsi_definition_kind kind, uint32_t value);

/* Sorts. Errors: DLS_EFORMAT (a name that is defined twice). */
int dlsi_names_close(struct dlsi_names *names, struct dls_error *err);

/* The definition, the constant where an input has a default; NULL if nothing defines the name. */
const struct dlsi_definition *dlsi_names_find(const struct dlsi_names *names, const char *name);

#endif
