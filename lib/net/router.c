#include "net/router.h"

#include "base/random.h"
#include <pthread.h>
#include <stdlib.h>
#include <zmq.h>

enum { STATE_BYTES = 128 };

/* The generator of rand() belongs to the whole process, and so must what guards its being lent. */
static pthread_mutex_t lending = PTHREAD_MUTEX_INITIALIZER;

void *dlsi_router_open(void *context)
{
	char state[STATE_BYTES], *before;
	void *socket;

	pthread_mutex_lock(&lending);
	before = initstate((unsigned)dlsi_random_u64(), state, sizeof state);
	socket = zmq_socket(context, ZMQ_ROUTER);
	setstate(before);
	pthread_mutex_unlock(&lending);
	return socket;
}
