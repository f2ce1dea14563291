/* The largest value of late: never less than that of the last span, never more than that of the last two. */
#include "base/recent.h"
#include "test/unit/unit.h"

enum { VALUES = 2000, SPAN_NS = 100 };

static struct {
	int64_t time_ns, value;
} added[VALUES];

static int64_t most_since(int count, int64_t time_ns)
{
	int64_t most = 0;

	for (int i = 0; i < count; i++)
		if (added[i].time_ns > time_ns && added[i].value > most)
			most = added[i].value;
	return most;
}

static void test_old_values_are_forgotten_and_late_ones_kept(void **state)
{
	struct dlsi_recent recent = {.span_ns = SPAN_NS};
	struct dlsi_rng rng = unit_rng(1);
	int64_t now_ns = 1000000, most;

	(void)state;
	assert_int_equal(dlsi_recent_most(&recent, now_ns), 0);
	for (int i = 0; i < VALUES; i++) {
		now_ns += (int64_t)dlsi_rng_below(&rng, dlsi_rng_below(&rng, 20) ? SPAN_NS / 4 : 3 * SPAN_NS);
		added[i].time_ns = now_ns;
		added[i].value = (int64_t)dlsi_rng_below(&rng, 1000);
		dlsi_recent_add(&recent, now_ns, added[i].value);
		now_ns += (int64_t)dlsi_rng_below(&rng, 2) * (int64_t)dlsi_rng_below(&rng, 3 * SPAN_NS);
		most = dlsi_recent_most(&recent, now_ns);
		assert_true(most >= most_since(i + 1, now_ns - SPAN_NS));
		assert_true(most <= most_since(i + 1, now_ns - 2 * SPAN_NS));
	}
}

UNIT_MAIN(test_old_values_are_forgotten_and_late_ones_kept)
