/* How the programs say what went wrong: one sentence on standard error, behind the program's name. */
#ifndef DLSI_CLI_FAILURE_H
#define DLSI_CLI_FAILURE_H

#include <dlsched/error.h>

enum { CLI_EXIT_FAILED = 1, CLI_EXIT_USAGE = 2, CLI_EXIT_REFUSED = 4, CLI_EXIT_TIMEOUT = 5 };

/* Fills `err` as the library does for its own failures, and returns `code`. */
int cli_fail(struct dls_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: ends the sentence with what errno means. */
int cli_fail_errno(struct dls_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether all that was printed so far is where standard output leads. Errors: DLS_EIO. */
int cli_check_output(struct dls_error *err);

/* Prints the sentence and returns the exit code that belongs to the error. */
int cli_report(const char *program, struct dls_error *err);

#endif
