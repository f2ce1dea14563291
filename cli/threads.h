/* How the threads on which a model runs wait for each other. OpenMP reads that from the environment while the program
 * is being loaded, and the library leaves the environment alone, so it is for the program to set. */
#ifndef DLSI_CLI_THREADS_H
#define DLSI_CLI_THREADS_H

#include <dlsched/error.h>

/* Where the environment does not say how, it is set and this program is started over, in this process and with the same
 * arguments: call it before anything else happens, and expect it not to return. */
int cli_threads_prepare(char **argv, struct dls_error *err);

#endif
