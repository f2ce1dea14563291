#include "cli/threads.h"

#include "cli/failure.h"
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* How often a thread of a team looks for its next piece of work before it sleeps. libgomp's own 300,000 times are
 * milliseconds of a processor that other programs may need: on a machine with more work than processors the same model
 * ran five times faster with this. */
#define SPINS "1000"

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

int cli_threads_prepare(char **argv, struct dls_error *err)
{
	if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) /* the user has said how, or this did */
		return 0;
	if (setenv("GOMP_SPINCOUNT", SPINS, 1))
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	start_anew(argv);
	return cli_fail_errno(err, DLS_EIO, "cannot start anew");
}
