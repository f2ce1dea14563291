#include "net/monitor.h"

#include "base/random.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

bool dlsi_monitor_open(struct dlsi_monitor *monitor, void *context, void *socket, int events)
{
	const int unlimited = 0, linger = 0;
	char name[64];
	void *pair;

	snprintf(name, sizeof name, "inproc://dlsi-monitor-%016" PRIx64, dlsi_random_u64());
	if (zmq_socket_monitor(socket, name, events))
		return false;
	pair = zmq_socket(context, ZMQ_PAIR);
	/* With a limit libzmq's I/O thread would wait for this reader, and closing the socket for that thread. */
	if (!pair || zmq_setsockopt(pair, ZMQ_RCVHWM, &unlimited, sizeof unlimited) ||
		zmq_setsockopt(pair, ZMQ_LINGER, &linger, sizeof linger) || zmq_connect(pair, name)) {
		zmq_socket_monitor(socket, NULL, 0);
		if (pair)
			zmq_close(pair);
		return false;
	}
	monitor->pair = pair;
	return true;
}

void dlsi_monitor_close(struct dlsi_monitor *monitor, void *socket)
{
	if (!monitor->pair)
		return;
	zmq_socket_monitor(socket, NULL, 0);
	zmq_close(monitor->pair);
	monitor->pair = NULL;
}

bool dlsi_monitor_next(struct dlsi_monitor *monitor, int *event_out, int *value_out)
{
	uint8_t head[6], address[1]; /* the address is cut: nobody reads it */
	uint16_t event;
	uint32_t value;

	if (!monitor->pair || zmq_recv(monitor->pair, head, sizeof head, ZMQ_DONTWAIT) != sizeof head)
		return false;
	zmq_recv(monitor->pair, address, sizeof address, ZMQ_DONTWAIT);
	memcpy(&event, head, sizeof event);
	memcpy(&value, head + sizeof event, sizeof value);
	*event_out = event;
	*value_out = (int)value;
	return true;
}
