/* Contexts: options, log, live handles, and what a forked child is told. */
#include "base/clock.h"
#include "node/ctx.h"
#include "test/unit/unit.h"
#include <dlsched/dlsched.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct lines {
	atomic_uint count; /* last of all: what is below has been written */
	char last[1100];
	enum dls_log_level level;
	int64_t time_ns;
};

static void keep_line(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line)
{
	struct lines *lines = log_arg;

	lines->level = level;
	lines->time_ns = time_ns;
	snprintf(lines->last, sizeof lines->last, "%s", line);
	atomic_fetch_add(&lines->count, 1);
}

static void wait_for_line(const struct lines *lines, unsigned count)
{
	while (atomic_load(&lines->count) < count)
		sched_yield();
}

static void *resize_unit(void *arg, void *old, size_t size)
{
	const struct dlsi_alloc *alloc = arg;

	return alloc->resize(alloc->arg, old, size);
}

static struct dls_ctx_options options_with(const struct dlsi_alloc *alloc)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;

	options.resize = resize_unit;
	options.resize_arg = (void *)(uintptr_t)alloc;
	return options;
}

static void test_log_has_level_and_limit(void **state)
{
	struct dls_ctx_options options = options_with(unit_alloc());
	struct lines lines = {0};
	char long_text[2001];
	int64_t before_ns;
	struct dls_ctx *ctx;

	(void)state;
	options.log = keep_line;
	options.log_arg = &lines;
	assert_int_equal(dls_ctx_create(&options, &ctx, NULL), 0);
	before_ns = dlsi_clock_utc_ns();
	dlsi_ctx_log(ctx, DLS_LOG_INFO, "not asked for");
	dlsi_ctx_log(ctx, DLS_LOG_WARNING, "%d items", 7);
	wait_for_line(&lines, 1);
	assert_string_equal(lines.last, "7 items");
	assert_int_equal(lines.level, DLS_LOG_WARNING);
	assert_in_range(lines.time_ns, before_ns, dlsi_clock_utc_ns());
	memset(long_text, 'x', 2000);
	long_text[2000] = '\0';
	dlsi_ctx_log(ctx, DLS_LOG_ERROR, "%s", long_text);
	dls_ctx_destroy(ctx); /* with which every line has come */
	assert_int_equal(lines.count, 2);
	assert_int_equal(strlen(lines.last), 1000);
}

static void test_wrong_options_are_refused(void **state)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_ctx *ctx = NULL;

	(void)state;
	options.log_level = 9;
	assert_int_equal(dls_ctx_create(&options, &ctx, NULL), DLS_EINVAL);
	assert_int_equal(dls_ctx_create(NULL, NULL, NULL), DLS_EINVAL);
	assert_null(ctx);
	dls_ctx_destroy(NULL);
}

static void test_live_handles_keep_it(void **state)
{
	struct dls_ctx_options options = options_with(unit_alloc());
	struct lines lines = {0};
	struct dls_ctx *ctx;

	(void)state;
	options.log = keep_line;
	options.log_arg = &lines;
	assert_int_equal(dls_ctx_create(&options, &ctx, NULL), 0);
	dlsi_ctx_ref(ctx);
	dls_ctx_destroy(ctx);
	wait_for_line(&lines, 1);
	assert_non_null(strstr(lines.last, "1 live handle"));
	dlsi_ctx_unref(ctx);
	dls_ctx_destroy(ctx);
}

static void test_forked_child_is_told(void **state)
{
	struct dls_ctx *ctx;
	int status = 0;
	pid_t child;

	(void)state;
	assert_int_equal(dls_ctx_create(NULL, &ctx, NULL), 0);
	child = fork();
	if (child == 0) {
		bool told = dlsi_ctx_check(ctx, NULL) == DLS_EFORK;

		dls_ctx_destroy(ctx); /* must neither hang nor crash */
		_exit(told ? 7 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(dlsi_ctx_check(ctx, NULL), 0);
	dls_ctx_destroy(ctx);
}

static void test_creation_without_memory(void **state)
{
	struct dls_ctx *ctx;
	unsigned n = 0;
	int rc;

	(void)state;
	do {
		struct dls_ctx_options options = options_with(unit_alloc_failing_at(++n));

		rc = dls_ctx_create(&options, &ctx, NULL);
	} while (rc == DLS_ENOMEM);
	assert_int_equal(rc, 0);
	assert_true(n > 2);
	dls_ctx_destroy(ctx);
}

/* ---- limits of the system */

/* Nobody else's processes count for this user. */
#define NOBODY 60123

static int try_worker(struct dls_ctx *ctx, const char *master, struct dls_error *err)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_worker *worker;
	int rc;

	options.master = master;
	options.no_models = 1;
	rc = dls_worker_create(ctx, &options, &worker, err);
	if (rc)
		return rc;
	rc = dls_worker_start(worker, err);
	dls_worker_destroy(worker);
	return rc;
}

/* Makes what a process of a cluster has, as far as it goes. */
static int try_programs(struct dls_error *err)
{
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_master *master;
	struct dls_ctx *ctx;
	int rc = dls_ctx_create(NULL, &ctx, err);

	if (rc)
		return rc;
	options.bind = "tcp://127.0.0.1:0";
	rc = dls_master_create(ctx, &options, &master, err);
	if (rc == 0) {
		rc = try_worker(ctx, dls_master_endpoint(master), err);
		dls_master_destroy(master);
	}
	dls_ctx_destroy(ctx);
	return rc;
}

/* In a child, under a limit: 0 it could, 1 it was told why not, 2 it was told something else, 3 the limit cannot be
 * set.
 */
static int try_under_limit(int resource, rlim_t most)
{
	struct rlimit limit;
	struct dls_error err;
	int rc;

	getrlimit(resource, &limit);
	limit.rlim_cur = most;
	if (setrlimit(resource, &limit))
		return 3;
	if (resource == RLIMIT_NPROC && geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY))
		return 3;
	rc = try_programs(&err);
	if (rc == DLS_EIO)
		return 1;
	if (rc)
		fprintf(stderr, "limit %u: %s\n", (unsigned)most, err.text);
	return rc ? 2 : 0;
}

/* It is refused from some limit down, and nothing ends the process. */
static void sweep_limit(int resource, rlim_t most)
{
	unsigned made = 0, refused = 0;

	for (rlim_t limit = 1; limit <= most; limit++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0)
			_exit(try_under_limit(resource, limit));
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
			skip();
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			fail_msg("limit %u: status %x", (unsigned)limit, (unsigned)status);
		made += WEXITSTATUS(status) == 0;
		refused += WEXITSTATUS(status) == 1;
	}
	assert_true(made > 0 && refused > 0);
}

static void test_too_few_descriptors(void **state)
{
	(void)state;
	sweep_limit(RLIMIT_NOFILE, 64);
}

static void test_too_few_threads(void **state)
{
	(void)state;
	sweep_limit(RLIMIT_NPROC, 16);
}

UNIT_MAIN(test_log_has_level_and_limit, test_wrong_options_are_refused, test_live_handles_keep_it,
	test_forked_child_is_told, test_creation_without_memory, test_too_few_descriptors, test_too_few_threads)
