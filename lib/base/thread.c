#include "base/thread.h"

#include <signal.h>
#include <stdio.h>

int dlsi_thread_start(
	pthread_t *thread_out, const char *name, void *(*run)(void *arg), void *arg, struct dls_error *err)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	sigset_t blocked, before;
	pthread_t thread;
	char shown[16];
	int rc;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		sigdelset(&blocked, faults[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before); /* a thread inherits the mask of the one that starts it */
	rc = pthread_create(&thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return dlsi_fail_errno(err, DLS_EIO, rc, "cannot start the thread %s", name);
	snprintf(shown, sizeof shown, "%s", name);
	pthread_setname_np(thread, shown);
	*thread_out = thread;
	return 0;
}
