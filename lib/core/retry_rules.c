#include "core/retry_rules.h"

#include "base/clock.h"
#include "base/limits.h"
#include <stdio.h>

enum { WAIT_MOST_MS = 60000, WHAT_BYTES = 400 };

const char *const dlsi_failure_names[] = {
	[DLSI_FAILURE_ERROR] = "error",
	[DLSI_FAILURE_TIME_LIMIT] = "time_limit",
	[DLSI_FAILURE_INPUT] = "input",
	[DLSI_FAILURES] = NULL,
};

static int read_rule(const char *where, const cJSON *json, struct dlsi_retry_rule *rule_out, struct dls_error *err)
{
	static const char *const known[] = {"times", "wait_ms", "wait_most_ms", NULL};
	char what[WHAT_BYTES];
	struct dlsi_json_reader reader;
	int64_t times, wait_ms, most_ms;

	snprintf(what, sizeof what, "%s: retry.%s", where, json->string);
	reader = dlsi_json_read(json, what, known, err);
	dlsi_json_require(&reader, "times");
	times = dlsi_json_integer(&reader, "times", 0, 0, DLSI_RETRY_TIMES);
	wait_ms = dlsi_json_integer(&reader, "wait_ms", 0, 0, DLSI_TIME_LIMIT_MS);
	most_ms = dlsi_json_integer(
		&reader, "wait_most_ms", wait_ms > WAIT_MOST_MS ? wait_ms : WAIT_MOST_MS, 0, DLSI_TIME_LIMIT_MS);
	if (reader.rc == 0 && most_ms < wait_ms)
		return dlsi_fail(err, DLS_EINVAL, "%s: wait_most_ms is less than wait_ms", what);
	*rule_out = (struct dlsi_retry_rule){
		(uint32_t)times, (uint64_t)wait_ms * DLSI_MILLISECOND_NS, (uint64_t)most_ms * DLSI_MILLISECOND_NS};
	return reader.rc;
}

int dlsi_retry_rules_read(
	const char *what, const cJSON *json, struct dlsi_retry_rules *rules_out, struct dls_error *err)
{
	struct dlsi_retry_rules rules = {0};
	struct dlsi_json_reader reader = {0};
	char where[WHAT_BYTES];

	snprintf(where, sizeof where, "%s: retry", what);
	if (json)
		reader = dlsi_json_read(json, where, dlsi_failure_names, err);
	for (unsigned i = 0; json && i < DLSI_FAILURES; i++) {
		const cJSON *rule = dlsi_json_object(&reader, dlsi_failure_names[i]);

		if (rule && reader.rc == 0)
			reader.rc = read_rule(what, rule, &rules.of[i], err);
	}
	if (reader.rc == 0)
		*rules_out = rules;
	return reader.rc;
}

bool dlsi_retry_rules_any(const struct dlsi_retry_rules *rules)
{
	for (unsigned i = 0; i < DLSI_FAILURES; i++)
		if (rules->of[i].times)
			return true;
	return false;
}

uint64_t dlsi_retry_wait_ns(const struct dlsi_retry_rule *rule, uint32_t n)
{
	uint64_t wait_ns = rule->wait_ns;

	while (--n && wait_ns < rule->wait_most_ns)
		wait_ns *= 2;
	return wait_ns < rule->wait_most_ns ? wait_ns : rule->wait_most_ns;
}
