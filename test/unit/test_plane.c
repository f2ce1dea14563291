/* Which data plane a handle gets: by where its master is, shared within a context, and never open to others unless that
 * is allowed. */
#include "node/plane.h"
#include "test/unit/unit.h"
#include <string.h>

static struct dls_ctx *make_ctx(void)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_ctx *ctx;

	options.resize = unit_alloc()->resize;
	options.resize_arg = unit_alloc()->arg;
	assert_int_equal(dlsi_ctx_create(&options, &ctx, NULL), 0);
	return ctx;
}

static void test_address_follows_the_master(void **state)
{
	static const struct {
		const char *master, *data_bind, *begins;
	} cases[] = {{"inproc://m", NULL, "inproc://"}, {"tcp://127.0.0.1:7700", NULL, "tcp://127.0.0.1:"},
		{"ipc:///tmp/m", NULL, "tcp://127.0.0.1:"}, {"tcp://localhost:7700", NULL, "tcp://127.0.0.1:"},
		{"inproc://m", "tcp://127.0.0.1:*", "tcp://127.0.0.1:"}};
	struct dls_ctx *ctx = make_ctx();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_plane_options options = {.master = cases[i].master, .data_bind = cases[i].data_bind};
		struct dlsi_dataplane *plane;

		assert_int_equal(dlsi_plane_ref(ctx, &options, &plane, NULL), 0);
		assert_int_equal(strncmp(dlsi_dataplane_endpoint(plane), cases[i].begins, strlen(cases[i].begins)), 0);
		dlsi_plane_unref(ctx, plane);
	}
	dlsi_ctx_destroy(ctx);
}

static void test_handles_at_one_address_share(void **state)
{
	struct dlsi_plane_options options = {.master = "inproc://m"};
	struct dlsi_dataplane *first, *second, *third;
	struct dls_ctx *ctx = make_ctx();

	(void)state;
	assert_int_equal(dlsi_plane_ref(ctx, &options, &first, NULL), 0);
	assert_int_equal(dlsi_plane_ref(ctx, &options, &second, NULL), 0);
	assert_ptr_equal(first, second);
	options.data_bind = "tcp://127.0.0.1:*";
	assert_int_equal(dlsi_plane_ref(ctx, &options, &third, NULL), 0);
	assert_ptr_not_equal(first, third);
	dlsi_plane_unref(ctx, first);
	assert_non_null(dlsi_dataplane_endpoint(second)); /* still there */
	dlsi_plane_unref(ctx, second);
	dlsi_plane_unref(ctx, third);
	dlsi_plane_unref(ctx, NULL);
	dlsi_ctx_destroy(ctx);
}

static void test_what_is_refused(void **state)
{
	static const struct {
		const char *master, *data_bind;
		int code;
		bool insecure;
	} cases[] = {
		{"tcp://192.0.2.1:7700", NULL, DLS_EDENIED, false},
		{"tcp://192.0.2.1:7700", "tcp://127.0.0.1:*", DLS_EDENIED, false},
		{"tcp://192.0.2.1:7700", "none", DLS_EDENIED, false},
		{"tcp://127.0.0.1:7700", "none", DLS_EADDRESS, false}, /* it may not */
		{"tcp://127.0.0.1:7700", "tcp://0.0.0.0:*", DLS_EDENIED, false},
		{"tcp://127.0.0.1:7700", "tcp://*:0", DLS_EDENIED, false},
		{"tcp://127.0.0.1:7700", "tcp://0.0.0.0:*", DLS_EADDRESS, true},
		{"tcp://127.0.0.1:7700", "tcp://[::]:0", DLS_EADDRESS, true},
		{"tcp://127.0.0.1:7700", "tcp://*:0", DLS_EADDRESS, true},
		{"tcp://no-such-host.invalid:7700", NULL, DLS_EADDRESS, false},
		{"tcp://127.0.0.1", NULL, DLS_EADDRESS, false},
		{"127.0.0.1:7700", NULL, DLS_EADDRESS, false},
		{"tcp://127.0.0.1:7700", "tcp://192.0.2.1:*", DLS_EDENIED, false},
		{"tcp://127.0.0.1:7700", "nonsense", DLS_EADDRESS, false},
		{"tcp://127.0.0.1:7700", "tcp://no-such-host.invalid:1", DLS_EADDRESS, false},
	};
	struct dls_ctx *ctx = make_ctx();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_plane_options options = {
			.master = cases[i].master, .data_bind = cases[i].data_bind, .insecure = cases[i].insecure};
		struct dlsi_dataplane *plane;
		struct dls_error err = {0};

		if (dlsi_plane_ref(ctx, &options, &plane, &err) != cases[i].code)
			fail_msg("%s %s: %s", cases[i].master, cases[i].data_bind ? cases[i].data_bind : "", err.text);
	}
	dlsi_ctx_destroy(ctx);
}

static void test_who_hides_serves_nowhere(void **state)
{
	struct dlsi_plane_options options = {"tcp://192.0.2.1:7700", "none", true, true};
	struct dls_ctx *ctx = make_ctx();
	struct dlsi_dataplane *plane;

	(void)state;
	assert_int_equal(dlsi_plane_ref(ctx, &options, &plane, NULL), 0);
	assert_string_equal(dlsi_dataplane_endpoint(plane), "");
	dlsi_plane_unref(ctx, plane);
	options.insecure = false;
	assert_int_equal(dlsi_plane_ref(ctx, &options, &plane, NULL), DLS_EDENIED);
	dlsi_ctx_destroy(ctx);
}

static void test_without_memory(void **state)
{
	struct dlsi_plane_options options = {.master = "inproc://m"};
	struct dls_ctx_options ctx_options = DLS_CTX_OPTIONS_INIT;
	unsigned n = 0;
	int rc;

	(void)state;
	do {
		const struct dlsi_alloc *alloc = unit_alloc_failing_at(++n);
		struct dlsi_dataplane *plane = NULL;
		struct dls_ctx *ctx = NULL;

		ctx_options.resize = alloc->resize;
		ctx_options.resize_arg = alloc->arg;
		rc = dlsi_ctx_create(&ctx_options, &ctx, NULL);
		if (rc == 0)
			rc = dlsi_plane_ref(ctx, &options, &plane, NULL);
		if (ctx) {
			dlsi_plane_unref(ctx, plane);
			dlsi_ctx_destroy(ctx);
		}
	} while (rc == DLS_ENOMEM);
	assert_int_equal(rc, 0);
	assert_true(n > 5);
}

UNIT_MAIN(test_address_follows_the_master, test_handles_at_one_address_share, test_what_is_refused,
	test_who_hides_serves_nowhere, test_without_memory)
