#include "cli/threads.h"

#include "cli/failure.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reading the mask fails only where there are more processors than a cpu_set_t can name. */
static int64_t usable_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	return sysconf(_SC_NPROCESSORS_ONLN);
}

int cli_threads_set(int64_t threads, int64_t devices, char **argv, struct dls_error *err)
{
	const char *now = getenv("OMP_NUM_THREADS"), *blas = getenv("OPENBLAS_NUM_THREADS");
	char wanted[24];

	if (!threads && now)
		return 0;
	if (!threads)
		threads = usable_processors() / devices;
	if (!threads)
		threads = 1;
	snprintf(wanted, sizeof wanted, "%lld", (long long)threads);
	if (now && blas && strcmp(now, wanted) == 0 && strcmp(blas, wanted) == 0)
		return 0;
	if (setenv("OMP_NUM_THREADS", wanted, 1) || setenv("OPENBLAS_NUM_THREADS", wanted, 1))
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	execv("/proc/self/exe", argv);
	return cli_fail_errno(err, DLS_EIO, "cannot start anew with %s threads", wanted);
}
