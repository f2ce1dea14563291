/* Option structures of older, the same and newer builds. */
#include "api/options.h"
#include "test/unit/unit.h"
#include <dlsched/cluster.h>
#include <string.h>

struct older {
	size_t size;
	int first;
};

struct known {
	size_t size;
	int first;
	int second;
};

struct newer {
	size_t size;
	int first;
	int second;
	const char *third;
};

static void test_null_gives_zeros(void **state)
{
	struct known read = {1, 2, 3};

	(void)state;
	assert_int_equal(dlsi_options_read("known", NULL, sizeof read, &read, NULL), 0);
	assert_int_equal(read.size, sizeof read);
	assert_int_equal(read.first, 0);
	assert_int_equal(read.second, 0);
}

static void test_older_leaves_the_rest_zero(void **state)
{
	struct older given = {sizeof given, 5};
	struct known read = {1, 2, 3};

	(void)state;
	given.size = offsetof(struct known, second);
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, NULL), 0);
	assert_int_equal(read.size, sizeof read);
	assert_int_equal(read.first, 5);
	assert_int_equal(read.second, 0);
}

static void test_newer_may_not_want_what_is_unknown(void **state)
{
	struct newer given = {sizeof given, 5, 6, NULL};
	struct known read;
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, NULL), 0);
	assert_int_equal(read.second, 6);
	given.third = "x";
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "known"));
}

static void test_size_is_required(void **state)
{
	struct known given = {0, 5, 6}, read;

	(void)state;
	assert_int_equal(dlsi_options_read("known", &given, sizeof read, &read, NULL), DLS_EINVAL);
}

/* Built against a release whose workers have more options, within a structure that has grown by as much. */
static void test_options_within_options(void **state)
{
	struct {
		struct dls_cluster_options known;
		uint64_t added[32];
	} newer = {.known = DLS_CLUSTER_OPTIONS_INIT};
	struct dls_cluster *cluster;
	struct dls_ctx *ctx;

	(void)state;
	newer.known.size = sizeof newer;
	newer.known.worker.size = sizeof newer.known.worker + sizeof newer.added;
	newer.known.worker.no_models = 1;
	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	assert_int_equal(dls_cluster_local(ctx, &newer.known, &cluster, NULL), 0);
	dls_cluster_destroy(cluster);
	newer.added[0] = 1;
	assert_int_equal(dls_cluster_local(ctx, &newer.known, &cluster, NULL), DLS_EINVAL);
	dls_ctx_destroy(ctx);
}

UNIT_MAIN(test_null_gives_zeros, test_older_leaves_the_rest_zero, test_newer_may_not_want_what_is_unknown,
	test_size_is_required, test_options_within_options)
