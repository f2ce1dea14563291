/* JSON of the control plane, read strictly: cJSON behind rules it does not keep itself. The only file that parses it.
 *
 * A text is refused when it is longer than its limit, nests deeper than DLSI_JSON_DEPTH, has two members of one name in
 * an object, bytes behind its end, an embedded NUL, a control character, a number without a finite value, or bytes that
 * are not UTF-8. Look-ups are case-sensitive. Ids and 64-bit counters are strings. The first error of a reading
 * sequence is kept, so that a whole object is read without a check per member. */
#ifndef DLSI_JSON_H
#define DLSI_JSON_H

#include "base/alloc.h"
#include "base/error.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* Parses `length` bytes. `what` names the text in errors ("model.json"). The caller frees with cJSON_Delete.
 * Errors: DLS_EFORMAT (says line and column, or which name is there twice), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_json_parse(
	const char *what, const void *text, size_t length, size_t limit, cJSON **json_out, struct dls_error *err);

/* Reads the members of one object. `rc` is 0 until a required member is missing or one is of the wrong kind
 * (DLS_EINVAL); later reads then do nothing. */
struct dlsi_json_reader {
	const cJSON *object;
	const char *what; /* names the object in errors: "model.json: inputs.image" */
	struct dls_error *err;
	int rc;
};

/* Begins to read `json`, which must be an object whose members are all in `known` (NULL-terminated). An unknown member
 * is DLS_EINVAL, and the sentence names the nearest known one. */
struct dlsi_json_reader dlsi_json_read(
	const cJSON *json, const char *what, const char *const *known, struct dls_error *err);

/* Fails unless the member is there. */
void dlsi_json_require(struct dlsi_json_reader *reader, const char *name);

/* Each gives the member, or `otherwise` when it is absent. A null is refused like any other wrong kind. */
const char *dlsi_json_text(struct dlsi_json_reader *reader, const char *name, const char *otherwise);
bool dlsi_json_bool(struct dlsi_json_reader *reader, const char *name, bool otherwise);
double dlsi_json_number(struct dlsi_json_reader *reader, const char *name, double otherwise);

/* A whole number from low to high, written as a number or, for those above 2^53, as a string. */
int64_t dlsi_json_integer(
	struct dlsi_json_reader *reader, const char *name, int64_t otherwise, int64_t low, int64_t high);

/* The index of the member's text in `words` (NULL-terminated); another text is DLS_EINVAL naming the nearest word. */
int dlsi_json_choice(struct dlsi_json_reader *reader, const char *name, const char *const *words, int otherwise);

/* The member if it is an object or array; NULL if absent. */
const cJSON *dlsi_json_object(struct dlsi_json_reader *reader, const char *name);
const cJSON *dlsi_json_array(struct dlsi_json_reader *reader, const char *name);

/* The member of the array `words` nearest to `word` by edit distance, for "did you mean"; NULL if the array is empty.
 */
const char *dlsi_json_nearest(const char *word, const char *const *words);

/* Compact text of the JSON, freed by the caller with `alloc`; NULL when memory is exhausted. */
char *dlsi_json_print(const struct dlsi_alloc *alloc, const cJSON *json);

#endif
