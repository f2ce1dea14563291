/* The driver: sits on the loop between a state machine of core/ and a transport. It turns what arrives into events,
 * steps the machine, and carries out the effects that master, client and worker share: SEND, RELEASE, DISCONNECT,
 * RECONNECT, LOG. The others are its owner's, who embeds it.
 *
 * Unless they say otherwise, calls are made on the loop's thread, and none from within `carry_out`: news that arise
 * there come back as an errand. When memory runs out in the middle of a step the machine is not to be trusted any more:
 * the driver closes the transport, drops all payloads and says so once (`broken`); afterwards it does nothing, unless
 * its owner revives it with a new machine. So it is when no new socket can be opened. */
#ifndef DLSI_DRIVER_H
#define DLSI_DRIVER_H

#include "core/event.h"
#include "net/transport.h"
#include "node/ctx.h"
#include "node/payloads.h"

/* What nobody waits for may wait so long to share a message. */
#define DLSI_PATIENCE_NS DLSI_MILLISECOND_NS

struct dlsi_driver;

struct dlsi_driver_ops {
	const char *what; /* begins log lines: "master" */
	void (*step)(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event,
		struct dlsi_effects *effects);
	void (*carry_out)(struct dlsi_driver *driver, const struct dlsi_effect *effect);
	void (*broken)(struct dlsi_driver *driver, int code);

	/* Begins anew with dlsi_driver_revive: called a second after `broken`, and every second until it returns 0.
	 * NULL: it stays broken. */
	int (*revive)(struct dlsi_driver *driver);
};

struct dlsi_driver {
	struct dlsi_loop_member member; /* first */
	const struct dlsi_driver_ops *ops;
	struct dls_ctx *ctx;
	struct dlsi_transport *transport; /* NULL: it does not work (any more) */
	bool dialer;
	bool started;
	int failure; /* with a code: it cannot go on (DLS_ENOMEM; DLS_EIO: no socket) */
	struct dlsi_payloads payloads;
	struct dlsi_effects effects;
	struct dlsi_buffer lost; /* struct dlsi_peer each: LOST is still to be told */
};

void dlsi_driver_init(struct dlsi_driver *driver, struct dls_ctx *ctx, const struct dlsi_driver_ops *ops);

/* From any thread: takes the transport (also on failure) and joins the loop. Errors: DLS_ENOMEM. */
int dlsi_driver_start(struct dlsi_driver *driver, struct dlsi_transport *transport, bool dialer, struct dls_error *err);

/* From any thread but the loop's: lets the machine say goodbye, leaves the loop and closes the transport. The machine
 * is not stepped any more when it returns. Does nothing if it was not started. */
void dlsi_driver_stop(struct dlsi_driver *driver);

/* In `revive`: a new machine goes on with this transport, which is taken. */
void dlsi_driver_revive(struct dlsi_driver *driver, struct dlsi_transport *transport);

/* Drops all payloads. After dlsi_driver_stop. */
void dlsi_driver_fini(struct dlsi_driver *driver);

/* Steps the machine and carries out what follows; its turn comes before the loop waits again. Payloads of the event are
 * the machine's from here on. */
void dlsi_driver_step(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event);

/* Makes a frame the payload of an event to come; takes the reference in any case. No payload if there is no memory: the
 * next step then breaks the driver. */
struct dlsi_payload dlsi_driver_adopt(struct dlsi_driver *driver, struct dlsi_frame *frame);

#endif
