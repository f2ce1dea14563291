/* How often an item that failed is tried again, and how long it waits before, by the kind of its failure: what a
 * specification says as
 *
 *   "retry": {"error": {"times": N, "wait_ms": N, "wait_most_ms": N}, "time_limit": {...}, "input": {...}}
 *
 * The first wait is wait_ms, each further one twice as long, up to wait_most_ms. Without wait_ms there is no wait,
 * without wait_most_ms it is a minute, or wait_ms if that is more. */
#ifndef DLSI_RETRY_RULES_H
#define DLSI_RETRY_RULES_H

#include "base/json.h"
#include "proto/record.h"

struct dlsi_retry_rule {
	uint32_t times; /* 0: never */
	uint64_t wait_ns, wait_most_ns;
};

struct dlsi_retry_rules {
	struct dlsi_retry_rule of[DLSI_FAILURES];
};

/* What the kinds are called, by enum dlsi_failure; ends with NULL. */
extern const char *const dlsi_failure_names[];

/* Of the object "retry"; NULL: none. `what` names in errors where it stands. Errors: DLS_EINVAL. */
int dlsi_retry_rules_read(
	const char *what, const cJSON *json, struct dlsi_retry_rules *rules_out, struct dls_error *err);

/* Whether there is one by which anything is tried again. */
bool dlsi_retry_rules_any(const struct dlsi_retry_rules *rules);

/* How long an item waits that has now failed for the n-th time, from 1. */
uint64_t dlsi_retry_wait_ns(const struct dlsi_retry_rule *rule, uint32_t n);

#endif
