/* A ROUTER of libzmq whose connections get numbers that nobody can guess.
 *
 * libzmq 4.3 numbers connections from a value of rand(), which it does not seed, and lets a stranger claim any number
 * as its routing id. When the count reaches a claimed one, libzmq ends the process. From a random number on, a stranger
 * needs millions of connections to meet the count. */
#ifndef DLSI_ROUTER_H
#define DLSI_ROUTER_H

/* As zmq_socket(context, ZMQ_ROUTER). What rand() gives the rest of the process stays as it was. */
void *dlsi_router_open(void *context);

#endif
