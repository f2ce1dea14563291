/* The ZeroMQ context of all sockets, with its threads running.
 *
 * libzmq starts its threads with the first socket and ends the process where descriptors or threads run out at that
 * moment. So what it takes is tried before, and the first socket is made at once. */
#ifndef DLSI_CONTEXT_H
#define DLSI_CONTEXT_H

#include "base/error.h"

/* Errors: DLS_EIO (descriptors or threads do not suffice, which limit is named). */
int dlsi_context_create(void **context_out, struct dls_error *err);

/* Asked before an address is bound or given back, too: libzmq looks through the network interfaces then, and ends the
 * process if it cannot.
 * Errors: DLS_EIO. */
int dlsi_context_check_files(struct dls_error *err);

/* Waits until all its sockets are closed. NULL is allowed. */
void dlsi_context_destroy(void *context);

#endif
