/* SIGINT and SIGTERM for a program with a poll loop: the first one makes a descriptor readable, the second one ends the
 * process at once with 128 + its number. */
#ifndef DLSI_CLI_SIGNALS_H
#define DLSI_CLI_SIGNALS_H

#include <dlsched/error.h>

/* Once per process, before the library starts threads. The descriptor stays readable once a signal has come. */
int cli_signals_init(int *fd_out, struct dls_error *err);

/* The signal that came; 0 while none has. */
int cli_signals_caught(void);

#endif
