/* How many threads a model's kernels use, and how they wait for each other. OpenMP reads that from the environment
 * while the program is being loaded, and the library leaves the environment alone, so it is for the program to set. */
#ifndef DLSI_CLI_THREADS_H
#define DLSI_CLI_THREADS_H

#include <dlsched/error.h>
#include <stdint.h>

/* `threads` 0: what OMP_NUM_THREADS says, else the processors that this process can keep busy, divided by `devices`.
 * Where the environment says something else it is set and this program is started over, in this process and with the
 * same arguments: call it before anything else happens, and expect it not to return. */
int cli_threads_set(int64_t threads, int64_t devices, char **argv, struct dls_error *err);

#endif
