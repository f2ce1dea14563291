/* What happens to a socket's connections, read from libzmq's monitor. One thread, the socket's. */
#ifndef DLSI_MONITOR_H
#define DLSI_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct dlsi_monitor {
	void *pair; /* NULL: not open */
};

/* Reports `events` (ZMQ_EVENT_* bits) of a socket of this context. False if libzmq has no more sockets. */
bool dlsi_monitor_open(struct dlsi_monitor *monitor, void *context, void *socket, int events);

/* Before the socket is closed. */
void dlsi_monitor_close(struct dlsi_monitor *monitor, void *socket);

/* The next event, if there is one now; the value is a descriptor for those that have one. */
bool dlsi_monitor_next(struct dlsi_monitor *monitor, int *event_out, int *value_out);

#endif
