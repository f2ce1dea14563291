#include "cli/signals.h"

#include "cli/failure.h"
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A handler has nothing but globals. */
static volatile sig_atomic_t caught;
static int wakeup = -1;

static void catch (int number)
{
	static const uint64_t one = 1;
	int saved = errno;
	ssize_t unused;

	if (caught)
		_exit(128 + number);
	caught = number;
	unused = write(wakeup, &one, sizeof one);
	(void)unused;
	errno = saved;
}

int cli_signals_init(int *fd_out, struct dls_error *err)
{
	struct sigaction action = {.sa_handler = catch, .sa_flags = SA_RESTART};

	wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wakeup < 0)
		return cli_fail_errno(err, DLS_EIO, "cannot make an event descriptor");
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGXFSZ, SIG_IGN); /* else a file at its limit ends the process, and what was written of it stays */
	*fd_out = wakeup;
	return 0;
}

int cli_signals_caught(void)
{
	return caught;
}
