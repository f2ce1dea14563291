#include "cli/threads.h"

#include "cli/failure.h"
#include <dlsched/worker.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a thread of a team looks for its next piece of work before it sleeps. libgomp's own 300,000 times are
 * milliseconds of a processor that other programs may need: on a machine with more work than processors the same model
 * ran five times faster with this. */
#define SPINS "1000"

static int64_t choose(int64_t threads, int64_t devices)
{
	const char *asked = getenv("OMP_NUM_THREADS");
	int64_t share = dls_processors() / devices;

	if (!threads && asked)
		threads = strtoll(asked, NULL, 10);
	if (threads > 0)
		return threads;
	return share > 0 ? share : 1;
}

/* Returns 1 if it had to be changed, 0 if not, -1 without memory. */
static int set(const char *name, const char *value)
{
	const char *now = getenv(name);

	if (now && strcmp(now, value) == 0)
		return 0;
	return setenv(name, value, 1) ? -1 : 1;
}

/* By its own path, whose last part is what ps and pgrep call the process; a file that has been replaced has none. */
static void start_anew(char **argv)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	if (length > 0) {
		path[length] = '\0';
		execv(path, argv);
	}
	execv("/proc/self/exe", argv);
}

int cli_threads_set(int64_t threads, int64_t devices, char **argv, struct dls_error *err)
{
	bool waits = getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"); /* the user has said how */
	int omp, spins;
	char wanted[24];

	snprintf(wanted, sizeof wanted, "%lld", (long long)choose(threads, devices));
	omp = set("OMP_NUM_THREADS", wanted);
	spins = waits ? 0 : set("GOMP_SPINCOUNT", SPINS);
	if (omp < 0 || spins < 0)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	if (!omp && !spins)
		return 0;
	start_anew(argv);
	return cli_fail_errno(err, DLS_EIO, "cannot start anew with %s threads", wanted);
}
