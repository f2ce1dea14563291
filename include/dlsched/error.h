/* Errors: what every call of the library returns, and the sentence that goes with it.
 *
 * A call returns 0 (or a count) or one of the negative codes below. Where it takes a trailing `struct dls_error *`,
 * which may be NULL, a failure also writes the code, the system's errno if there was one, and one sentence that names
 * the thing that is wrong and what to do about it. There is no "last error" of a thread. */
#ifndef DLSCHED_ERROR_H
#define DLSCHED_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* name, value, what it means, exit code of the programs, HTTP status, whether the same call may succeed later */
#define DLS_ERROR_TABLE(X)                                                                                             \
	X(DLS_EINVAL, -1, "invalid argument", 2, 400, 0)                                                               \
	X(DLS_ENOMEM, -2, "out of memory", 4, 503, 1)                                                                  \
	X(DLS_EIO, -3, "input or output failed", 4, 500, 0)                                                            \
	X(DLS_ENOTFOUND, -4, "not found", 4, 404, 0)                                                                   \
	X(DLS_EEXISTS, -5, "already exists", 4, 409, 0)                                                                \
	X(DLS_EFORMAT, -6, "malformed data", 4, 400, 0)                                                                \
	X(DLS_EUNSUPPORTED, -7, "not supported", 4, 501, 0)                                                            \
	X(DLS_ELIMIT, -8, "over a limit", 4, 413, 0)                                                                   \
	X(DLS_EBUSY, -9, "busy", 4, 503, 1)                                                                            \
	X(DLS_ETIMEOUT, -10, "timed out", 5, 504, 1)                                                                   \
	X(DLS_EUNREACHABLE, -11, "no master reached", 3, 502, 1)                                                       \
	X(DLS_EADDRESS, -12, "address cannot be used", 2, 400, 0)                                                      \
	X(DLS_ECANCELLED, -13, "cancelled", 130, 409, 0)                                                               \
	X(DLS_EPROTOCOL, -14, "protocol violated", 4, 502, 0)                                                          \
	X(DLS_EVERSION, -15, "version not supported", 4, 505, 0)                                                       \
	X(DLS_ESTATE, -16, "not possible in this state", 4, 409, 0)                                                    \
	X(DLS_EFORK, -17, "handle belongs to the process that forked", 4, 500, 0)                                      \
	X(DLS_EHANDLER, -18, "handler failed", 1, 500, 0)                                                              \
	X(DLS_ELOST, -19, "lost with the process that held it", 1, 502, 1)                                             \
	X(DLS_EDENIED, -20, "not allowed", 4, 403, 0)                                                                  \
	X(DLS_EEXPIRED, -21, "deadline or time limit passed", 5, 504, 0)

enum dls_errno {
	DLS_OK = 0,
#define DLS_ERROR_VALUE(name, value, text, exit_code, http, retry) name = value,
	DLS_ERROR_TABLE(DLS_ERROR_VALUE)
#undef DLS_ERROR_VALUE
};

#define DLS_ERROR_TEXT_BYTES 512

struct dls_error {
	int code;                        /* a DLS_E* code; 0 when nothing failed */
	int os_error;                    /* errno of the system call that failed, or 0 */
	char text[DLS_ERROR_TEXT_BYTES]; /* one sentence, NUL-terminated, UTF-8 */
};

/* The code's name ("DLS_EINVAL") and its meaning ("invalid argument"). Never NULL, also for codes that do not exist. */
const char *dls_error_name(int code);
const char *dls_error_meaning(int code);

/* What the programs exit with for this code, and what an HTTP answer carries. 4 and 500 for codes that do not exist. */
int dls_error_exit_code(int code);
int dls_error_http_status(int code);

/* 1 if the same call may succeed later without anything being corrected. */
int dls_error_is_temporary(int code);

#ifdef __cplusplus
}
#endif
#endif
