/* What every unit test includes: cmocka, seeded random numbers that name their seed when a test fails, and allocators
 * that count and that fail on the n-th call. */
#ifndef DLSI_UNIT_H
#define DLSI_UNIT_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
/* cmocka wants these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* keep cmocka below them */
#include <cmocka.h>
#include <stdbool.h>

enum { UNIT_WAIT_MS = 20000 }; /* what a test waits for comes long before, unless it fails */

/* A generator for this seed; if the test fails, the seed is printed. */
struct dlsi_rng unit_rng(uint64_t seed);

/* An allocator that never fails by itself, and whose memory must all be freed when the test ends. */
const struct dlsi_alloc *unit_alloc(void);

/* An allocator whose n-th request (from 1) for new or larger memory fails, and each one after it. */
const struct dlsi_alloc *unit_alloc_failing_at(unsigned n);

/* Whether it has come to that: until then what is waited for must come. From any thread. */
bool unit_alloc_has_failed(void);

/* A new, empty folder for the running test; removed with what is in it when the test ends. */
const char *unit_folder(void);

/* main() of a test program: runs up to 20 functions, each with a check that it freed all it took from unit_alloc. */
#define UNIT_MAIN(...)                                                                                                 \
	int main(void)                                                                                                 \
	{                                                                                                              \
		const struct CMUnitTest tests[] = {UNIT_PICK(__VA_ARGS__, UNIT_EACH)(__VA_ARGS__)};                    \
		return unit_run(__FILE__, tests, sizeof tests / sizeof *tests);                                        \
	}

struct unit_case {
	CMUnitTestFunction run;
};

int unit_run(const char *file, const struct CMUnitTest *tests, size_t count);
void unit_call(void **state);
int unit_setup(void **state);
int unit_teardown(void **state);

#define UNIT_TEST(function)  {#function, unit_call, unit_setup, unit_teardown, &(struct unit_case){function}},
#define UNIT_EACH_1(a)       UNIT_TEST(a)
#define UNIT_EACH_2(a, ...)  UNIT_TEST(a) UNIT_EACH_1(__VA_ARGS__)
#define UNIT_EACH_3(a, ...)  UNIT_TEST(a) UNIT_EACH_2(__VA_ARGS__)
#define UNIT_EACH_4(a, ...)  UNIT_TEST(a) UNIT_EACH_3(__VA_ARGS__)
#define UNIT_EACH_5(a, ...)  UNIT_TEST(a) UNIT_EACH_4(__VA_ARGS__)
#define UNIT_EACH_6(a, ...)  UNIT_TEST(a) UNIT_EACH_5(__VA_ARGS__)
#define UNIT_EACH_7(a, ...)  UNIT_TEST(a) UNIT_EACH_6(__VA_ARGS__)
#define UNIT_EACH_8(a, ...)  UNIT_TEST(a) UNIT_EACH_7(__VA_ARGS__)
#define UNIT_EACH_9(a, ...)  UNIT_TEST(a) UNIT_EACH_8(__VA_ARGS__)
#define UNIT_EACH_10(a, ...) UNIT_TEST(a) UNIT_EACH_9(__VA_ARGS__)
#define UNIT_EACH_11(a, ...) UNIT_TEST(a) UNIT_EACH_10(__VA_ARGS__)
#define UNIT_EACH_12(a, ...) UNIT_TEST(a) UNIT_EACH_11(__VA_ARGS__)
#define UNIT_EACH_13(a, ...) UNIT_TEST(a) UNIT_EACH_12(__VA_ARGS__)
#define UNIT_EACH_14(a, ...) UNIT_TEST(a) UNIT_EACH_13(__VA_ARGS__)
#define UNIT_EACH_15(a, ...) UNIT_TEST(a) UNIT_EACH_14(__VA_ARGS__)
#define UNIT_EACH_16(a, ...) UNIT_TEST(a) UNIT_EACH_15(__VA_ARGS__)
#define UNIT_EACH_17(a, ...) UNIT_TEST(a) UNIT_EACH_16(__VA_ARGS__)
#define UNIT_EACH_18(a, ...) UNIT_TEST(a) UNIT_EACH_17(__VA_ARGS__)
#define UNIT_EACH_19(a, ...) UNIT_TEST(a) UNIT_EACH_18(__VA_ARGS__)
#define UNIT_EACH_20(a, ...) UNIT_TEST(a) UNIT_EACH_19(__VA_ARGS__)
#define UNIT_EACH                                                                                                      \
	UNIT_EACH_20, UNIT_EACH_19, UNIT_EACH_18, UNIT_EACH_17, UNIT_EACH_16, UNIT_EACH_15, UNIT_EACH_14,              \
		UNIT_EACH_13, UNIT_EACH_12, UNIT_EACH_11, UNIT_EACH_10, UNIT_EACH_9, UNIT_EACH_8, UNIT_EACH_7,         \
		UNIT_EACH_6, UNIT_EACH_5, UNIT_EACH_4, UNIT_EACH_3, UNIT_EACH_2, UNIT_EACH_1
#define UNIT_PICK(...) UNIT_NTH(__VA_ARGS__, 0)
#define UNIT_NTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, NAME, ...) \
	NAME

#endif
