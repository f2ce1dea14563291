/* Threads of the library: they have a name, and no signal of the program is delivered to them. */
#ifndef DLSI_THREAD_H
#define DLSI_THREAD_H

#include "base/error.h"
#include <pthread.h>

/* Starts run(arg), to be ended by pthread_join. Of `name` ("dls-loop") the system shows 15 bytes. Threads that the new
 * one starts (OpenMP's teams) do not get signals either; those that a fault raises (SIGSEGV, SIGBUS, SIGFPE, SIGILL) go
 * where they belong. Errors: DLS_EIO (the system has no more threads). */
int dlsi_thread_start(
	pthread_t *thread_out, const char *name, void *(*run)(void *arg), void *arg, struct dls_error *err);

#endif
