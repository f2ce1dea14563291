/* Which failed items wait, and how often each has failed: the runs against the plainest model, a row per item, and the
 * list of RESULT against a bitmap. */
#include "base/limits.h"
#include "core/again.h"
#include "core/retries.h"
#include "test/unit/unit.h"
#include <string.h>

enum { ITEMS = 120, STEPS = 300, SEEDS = 150, TIMES = 3 };

struct row {
	uint32_t failed[DLSI_FAILURES];
	bool waits;
};

static struct row rows[ITEMS];

static const struct dlsi_retry_rule rules[DLSI_FAILURES] = {{TIMES, 100, 1000}, {1, 0, 0}, {0, 0, 0}};

static void assert_same(const struct dlsi_retries *set)
{
	uint64_t waiting = 0;
	size_t run = 0;

	for (uint64_t item = 0; item < ITEMS; item++) {
		static const uint16_t none[DLSI_FAILURES];
		const struct dlsi_retry_run *at;

		while (run < set->count && set->at[run].end <= item)
			run++;
		at = run < set->count && set->at[run].first <= item ? &set->at[run] : NULL;
		for (unsigned i = 0; i < DLSI_FAILURES; i++)
			assert_int_equal((at ? at->failed : none)[i], rows[item].failed[i]);
		assert_int_equal(at && at->due_ns != INT64_MAX, rows[item].waits);
		waiting += rows[item].waits;
	}
	for (size_t i = 1; i < set->count; i++)
		assert_true(set->at[i - 1].end <= set->at[i].first);
	assert_int_equal(set->waiting, waiting);
}

static void let_fail(struct dlsi_retries *set, struct dlsi_rng *rng, int64_t now_ns)
{
	uint64_t first = dlsi_rng_below(rng, ITEMS), end = first + 1 + dlsi_rng_below(rng, ITEMS - first);
	enum dlsi_failure failure = (enum dlsi_failure)dlsi_rng_below(rng, DLSI_FAILURES);

	while (first < end) {
		uint64_t at = first;
		bool again = dlsi_retries_fail(set, &first, end, failure, &rules[failure], now_ns);

		assert_true(first > at && first <= end);
		for (; at < first; at++) {
			struct row *row = &rows[at];
			bool expected = row->waits || row->failed[failure] < rules[failure].times;

			assert_int_equal(again, expected);
			row->failed[failure] += expected && !row->waits;
			row->waits = expected;
		}
	}
}

static void forget(struct dlsi_retries *set, struct dlsi_rng *rng)
{
	uint64_t first = dlsi_rng_below(rng, ITEMS), end = first + 1 + dlsi_rng_below(rng, ITEMS - first);

	dlsi_retries_forget(set, first, end);
	memset(&rows[first], 0, (end - first) * sizeof *rows);
}

static void released(void *arg, uint64_t first, uint64_t end)
{
	(void)arg;
	for (; first < end; first++) {
		assert_true(rows[first].waits);
		rows[first].waits = false;
	}
}

static void test_agrees_with_rows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_retries set;
		int64_t now_ns = 0;

		memset(rows, 0, sizeof rows);
		dlsi_retries_init(&set, unit_alloc());
		for (unsigned step = 0; step < STEPS; step++) {
			uint64_t dice = dlsi_rng_below(&rng, 10);

			now_ns += (int64_t)dlsi_rng_below(&rng, 50);
			if (dice < 5) {
				let_fail(&set, &rng, now_ns);
			} else if (dice < 7) {
				forget(&set, &rng);
			} else {
				dlsi_retries_release(&set, now_ns, released, NULL);
				assert_true(set.due_ns > now_ns);
				assert_int_equal(set.due_ns == INT64_MAX, set.waiting == 0);
			}
			assert_same(&set);
		}
		dlsi_retries_release(&set, INT64_MAX - 1, released, NULL);
		assert_int_equal(set.waiting, 0);
		dlsi_retries_forget(&set, 0, ITEMS);
		assert_int_equal(set.count, 0);
		dlsi_retries_fini(&set);
	}
}

static void test_waits_double_up_to_the_most(void **state)
{
	static const struct dlsi_retry_rule rule = {10, 100, 350};

	(void)state;
	assert_int_equal(dlsi_retry_wait_ns(&rule, 1), 100);
	assert_int_equal(dlsi_retry_wait_ns(&rule, 2), 200);
	assert_int_equal(dlsi_retry_wait_ns(&rule, 3), 350);
	assert_int_equal(dlsi_retry_wait_ns(&rule, DLSI_RETRY_TIMES), 350);
}

/* Never earlier, and an eighth later at most. */
static void test_is_due_when_its_wait_is_over(void **state)
{
	static const struct dlsi_retry_rule rule = {1, 8000, 8000};

	(void)state;
	for (int64_t now_ns = 0; now_ns < 5000; now_ns += 77) {
		struct dlsi_retries set;
		uint64_t first = 0;

		dlsi_retries_init(&set, unit_alloc());
		assert_true(dlsi_retries_fail(&set, &first, 1, DLSI_FAILURE_ERROR, &rule, now_ns));
		assert_in_range(set.due_ns, now_ns + 8000, now_ns + 9001);
		dlsi_retries_fini(&set);
	}
}

/* Every second item fails: each is a run of its own. What is beyond the limit is final, and the rest stays right. */
static void test_is_bounded(void **state)
{
	static const struct dlsi_retry_rule rule = {1, 1, 1};
	struct dlsi_retries set;
	uint64_t kept = 0;

	(void)state;
	dlsi_retries_init(&set, unit_alloc());
	for (uint64_t i = 0; i < DLSI_RETRY_RUNS + 100; i++) {
		uint64_t first = 2 * i;

		kept += dlsi_retries_fail(&set, &first, first + 1, DLSI_FAILURE_ERROR, &rule, 0);
	}
	assert_int_equal(kept, DLSI_RETRY_RUNS);
	assert_int_equal(set.waiting, DLSI_RETRY_RUNS);
	dlsi_retries_forget(&set, 0, 2 * DLSI_RETRY_RUNS);
	assert_int_equal(set.count, 0);
	dlsi_retries_fini(&set);
}

static void test_unchanged_when_memory_runs_out(void **state)
{
	static const struct dlsi_retry_rule rule = {1, 1, 1};
	struct dlsi_retries set;
	uint64_t first = 3;

	(void)state;
	dlsi_retries_init(&set, unit_alloc_failing_at(1));
	assert_false(dlsi_retries_fail(&set, &first, 5, DLSI_FAILURE_ERROR, &rule, 0));
	assert_int_equal(first, 5);
	assert_int_equal(set.count + set.waiting, 0);
	dlsi_retries_fini(&set);
}

static int read_rules(const char *text, struct dlsi_retry_rules *rules_out, struct dls_error *err)
{
	cJSON *json;
	int rc = dlsi_json_parse("rules", text, strlen(text), 1000, &json, err);

	assert_int_equal(rc, 0);
	rc = dlsi_retry_rules_read("a test", json, rules_out, err);
	cJSON_Delete(json);
	return rc;
}

static void test_reads_rules(void **state)
{
	struct dlsi_retry_rules read;
	struct dls_error error;

	(void)state;
	assert_int_equal(
		read_rules("{\"error\":{\"times\":2,\"wait_ms\":100},\"input\":{\"times\":1}}", &read, &error), 0);
	assert_int_equal(read.of[DLSI_FAILURE_ERROR].times, 2);
	assert_int_equal(read.of[DLSI_FAILURE_ERROR].wait_ns, 100000000);
	assert_int_equal(read.of[DLSI_FAILURE_ERROR].wait_most_ns, INT64_C(60000000000));
	assert_int_equal(read.of[DLSI_FAILURE_TIME_LIMIT].times, 0);
	assert_int_equal(read.of[DLSI_FAILURE_INPUT].times, 1);
	assert_true(dlsi_retry_rules_any(&read));
	assert_int_equal(read_rules("{\"errors\":{\"times\":2}}", &read, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "\"error\""));
	assert_int_equal(read_rules("{\"error\":{}}", &read, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "retry.error"));
	assert_int_equal(read_rules("{\"error\":{\"times\":1001}}", &read, &error), DLS_EINVAL);
	assert_int_equal(
		read_rules("{\"error\":{\"times\":1,\"wait_ms\":9,\"wait_most_ms\":8}}", &read, &error), DLS_EINVAL);
	assert_int_equal(dlsi_retry_rules_read("a test", NULL, &read, &error), 0);
	assert_false(dlsi_retry_rules_any(&read));
}

/* Draws which items of [first, end) fail in which way, lists them, and walks over the others. */
static void test_lists_of_results(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		uint64_t first = dlsi_rng_below(&rng, 1000), end = first + 1 + dlsi_rng_below(&rng, ITEMS), again = 0;
		struct dlsi_result result = {.first = first, .end = end};
		struct dlsi_finals finals = {.result = &result, .at = first};
		bool final[ITEMS], walked[ITEMS] = {0};
		struct dlsi_buffer list;
		struct dlsi_range run;

		dlsi_buffer_init(&list, unit_alloc());
		for (uint64_t item = first; item < end; item++) {
			final[item - first] = dlsi_rng_below(&rng, 3) != 0;
			again += !final[item - first];
			if (!final[item - first])
				dlsi_again_add(&list, &(struct dlsi_again){item, item + 1,
							      (enum dlsi_failure)dlsi_rng_below(&rng, 2)});
		}
		result.again = dlsi_again_list(&list);
		assert_true(dlsi_again_keep(unit_alloc(), &result.again));
		dlsi_buffer_fini(&list);
		assert_true(dlsi_again_is_sound(&result.again, first, end));
		assert_int_equal(dlsi_again_items(&result.again), again);
		while (dlsi_finals_next(&finals, &run))
			for (; run.first < run.end; run.first++)
				walked[run.first - first] = true;
		assert_memory_equal(final, walked, (end - first) * sizeof *final);
		if (again)
			assert_false(dlsi_again_is_sound(&result.again, first, dlsi_again_at(&result.again, 0).first));
		dlsi_again_free(unit_alloc(), &result.again);
	}
}

UNIT_MAIN(test_agrees_with_rows, test_waits_double_up_to_the_most, test_is_due_when_its_wait_is_over, test_is_bounded,
	test_unchanged_when_memory_runs_out, test_reads_rules, test_lists_of_results)
