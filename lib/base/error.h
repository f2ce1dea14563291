/* How an error is raised inside the library: one call writes the sentence and returns the code. */
#ifndef DLSI_ERROR_H
#define DLSI_ERROR_H

#include <dlsched/error.h>

/* Fills *err (nothing if NULL) and returns `code`, so that `return dlsi_fail(err, DLS_EFORMAT, "...", name);` is all a
 * failing function needs. The sentence names the thing and the way out; longer than the buffer it is cut between two
 * characters. Bytes that are not printable UTF-8 (names from foreign files) are shown as '?'. */
int dlsi_fail(struct dls_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with the errno of the system call that failed; its meaning is appended to the sentence (": no such file").
 */
int dlsi_fail_errno(struct dls_error *err, int code, int os_error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* DLS_ENOMEM with its one sentence. */
int dlsi_fail_memory(struct dls_error *err);

/* Puts "context: " before the sentence that *err already holds, sets its code and returns it. */
int dlsi_fail_in(struct dls_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
