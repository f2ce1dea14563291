/* What a client and a worker have in common: a handle that dials one master and stays with it. The driver of its state
 * machine, whether the master is there, the data plane it uses, and what is under way on its behalf, which must have
 * ended before it goes.
 *
 * Unless they say otherwise, calls are made on the loop's thread. */
#ifndef DLSI_DIALER_H
#define DLSI_DIALER_H

#include "node/driver.h"
#include "node/plane.h"

struct dlsi_dialer {
	struct dlsi_driver driver; /* first */
	struct dlsi_dataplane *plane;
	char *master;
	int news_fd; /* readable when its owner has news for the program */

	/* the loop's; node/fetch.h */
	struct dlsi_list fetches;
	bool ending; /* nothing is fetched any more */

	pthread_mutex_t mutex; /* guards what follows, and what the handle puts under it */
	pthread_cond_t changed;
	unsigned busy;         /* how much is under way */
	bool reached;          /* there is a connection, to whomever */
	bool connected;        /* a master has answered over it */
	struct dls_error over; /* with a code: it is over for good, and why */
};

/* From any thread: gets the data plane; dlsi_dialer_fini follows also a failure. Errors: as dlsi_plane_ref, DLS_EIO. */
int dlsi_dialer_init(struct dlsi_dialer *dialer, struct dls_ctx *ctx, const struct dlsi_driver_ops *ops,
	const struct dlsi_plane_options *options, struct dls_error *err);

/* From any thread, when the state machine is there: dials. Errors: as dlsi_transport_dial. */
int dlsi_dialer_start(struct dlsi_dialer *dialer, struct dls_error *err);

/* From any thread but the loop's: stops the driver, ends the fetches, and waits until nothing is under way. */
void dlsi_dialer_stop(struct dlsi_dialer *dialer);

/* From any thread, after dlsi_dialer_stop and the end of the state machine. */
void dlsi_dialer_fini(struct dlsi_dialer *dialer);

/* Looks at an event on its way to the state machine. */
void dlsi_dialer_see(struct dlsi_dialer *dialer, const struct dlsi_event *event);

/* Carries out a notice of DLSI_NOTICE_WELCOME, _LOST or _REJECTED. */
void dlsi_dialer_notice(struct dlsi_dialer *dialer, const struct dlsi_effect *effect);

/* The driver is broken. */
void dlsi_dialer_break(struct dlsi_dialer *dialer, int code);

/* From any thread: whether this host, as nodes name theirs, is the one this process runs on. */
bool dlsi_dialer_is_local(const struct dlsi_dialer *dialer, struct dlsi_text host);

/* From any thread: something is under way; it has ended, which is the last thing that is done with the dialer. */
void dlsi_dialer_begin(struct dlsi_dialer *dialer);
void dlsi_dialer_end(struct dlsi_dialer *dialer);

/* From any thread, under the mutex: how it stands. Returns 1 with a master, 0 without, or why it is over. */
int dlsi_dialer_standing(const struct dlsi_dialer *dialer, struct dls_error *err);

/* From any thread, under the mutex: waits until a master has answered. Errors: as dls_client_wait. */
int dlsi_dialer_wait(struct dlsi_dialer *dialer, int64_t until_ns, struct dls_error *err);

#endif
