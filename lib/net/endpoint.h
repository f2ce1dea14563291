/* Addresses as people write them: tcp://HOST:PORT, ipc://PATH, inproc://NAME. Checked before a socket gets them,
 * because libzmq takes a name that does not resolve without a word, binds over another process's ipc file, and binds no
 * names. */
#ifndef DLSI_ENDPOINT_H
#define DLSI_ENDPOINT_H

#include "base/error.h"
#include "base/limits.h"
#include <stdbool.h>

enum dlsi_scheme { DLSI_SCHEME_TCP = 1, DLSI_SCHEME_IPC = 2, DLSI_SCHEME_INPROC = 3 };

struct dlsi_endpoint {
	enum dlsi_scheme scheme;
	char host[DLSI_ENDPOINT_BYTES + 1]; /* tcp: without brackets; ipc: the path; inproc: the name */
	char port[6];                       /* tcp: digits, or "*" for any that is free */
	bool ipv6;                          /* the host is an IPv6 address in brackets */
};

/* Takes an address apart. Errors: DLS_EADDRESS. */
int dlsi_endpoint_parse(const char *text, struct dlsi_endpoint *endpoint_out, struct dls_error *err);

/* Whether nothing outside this machine can reach what listens here: ipc, inproc, and tcp on loopback addresses or on a
 * name that resolves to such only. False for wildcards, for what does not resolve and for what is no address.
 * May wait for a name server. */
bool dlsi_endpoint_is_local(const char *text);

/* Whether no name server has to be asked: what strangers say of where they are may not make a thread wait for one.
 * Errors: DLS_EADDRESS. */
int dlsi_endpoint_check_numeric(const char *text, struct dls_error *err);

/* What to bind or to connect to. A listener's name becomes the numeric address it resolves to; a dialer's stays, so
 * that every attempt resolves it anew, but it must resolve now. A listener's ipc path must be free, or a socket that
 * nobody answers at. May wait for a name server. Errors: DLS_EADDRESS. */
int dlsi_endpoint_listen(const char *text, char out[DLSI_ENDPOINT_BYTES + 1], bool *ipv6_out, struct dls_error *err);
int dlsi_endpoint_dial(const char *text, char out[DLSI_ENDPOINT_BYTES + 1], bool *ipv6_out, struct dls_error *err);

/* Removes the socket file of an ipc address that shall not be listened at any more, which libzmq leaves. */
void dlsi_endpoint_leave(const char *address);

/* The same text for all processes of this machine that can reach each other over its loopback address: made from the
 * boot id, the host name and the network namespace. */
#define DLSI_HOST_TEXT_BYTES 33
void dlsi_host_text(char out[DLSI_HOST_TEXT_BYTES]);

#endif
