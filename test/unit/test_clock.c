/* The clocks tell the time that the C library tells, in nanoseconds. */
#include "base/clock.h"
#include "test/unit/unit.h"
#include <time.h>

static void test_monotonic_never_goes_back(void **state)
{
	int64_t before = dlsi_clock_monotonic_ns();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		int64_t now = dlsi_clock_monotonic_ns();

		assert_true(now >= before);
		before = now;
	}
}

static void test_utc_is_the_date(void **state)
{
	int64_t low = (int64_t)time(NULL), now = dlsi_clock_utc_ns();

	(void)state;
	assert_true(now / DLSI_SECOND_NS >= low - 1 && now / DLSI_SECOND_NS <= (int64_t)time(NULL) + 1);
}

UNIT_MAIN(test_monotonic_never_goes_back, test_utc_is_the_date)
