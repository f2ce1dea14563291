#include "node/driver.h"

#include "base/clock.h"
#include "base/limits.h"
#include <inttypes.h>
#include <string.h>

#define REVIVE_NS DLSI_SECOND_NS

#define TAKING_NS (10 * DLSI_MILLISECOND_NS) /* then others have their turn: one message may have 4,096 records */

enum { ARRIVALS_PER_TURN = 64, LINGER_MS = 200 };

static void give_up(struct dlsi_driver *driver)
{
	dlsi_transport_abandon(driver->transport, 0); /* the loop may not wait */
	driver->transport = NULL;
	driver->member.deadline_ns = driver->ops->revive ? dlsi_clock_monotonic_ns() + REVIVE_NS : INT64_MAX;
	dlsi_payloads_fini(&driver->payloads);
	dlsi_ctx_log(driver->ctx, DLS_LOG_ERROR, "%s: it has stopped: %s", driver->ops->what,
		dls_error_meaning(driver->failure));
	driver->ops->broken(driver, driver->failure);
}

void dlsi_driver_revive(struct dlsi_driver *driver, struct dlsi_transport *transport)
{
	driver->transport = transport;
	driver->failure = 0;
	driver->effects.deadline_ns = INT64_MAX;
	driver->effects.failed = false;
	dlsi_effects_clear(&driver->effects);
	dlsi_buffer_clear(&driver->lost);
}

static void try_revive(struct dlsi_driver *driver, int64_t now_ns)
{
	if (driver->member.deadline_ns > now_ns)
		return;
	driver->member.deadline_ns = now_ns + REVIVE_NS;
	if (driver->ops->revive(driver) == 0)
		dlsi_ctx_log(driver->ctx, DLS_LOG_WARNING, "%s: it has begun anew", driver->ops->what);
}

static void reopen(struct dlsi_driver *driver)
{
	struct dls_error err;
	int rc = dlsi_transport_reopen(driver->transport, &err);

	if (rc) {
		driver->failure = rc;
		dlsi_ctx_log(driver->ctx, DLS_LOG_ERROR, "%s: %s", driver->ops->what, err.text);
	}
}

/* The connection to this peer is of no use any more: ends it and remembers to tell the machine. */
static void lose(struct dlsi_driver *driver, struct dlsi_peer peer)
{
	if (driver->dialer)
		reopen(driver);
	else
		dlsi_transport_forget(driver->transport, peer);
	dlsi_buffer_append(&driver->lost, &peer, sizeof peer);
}

/* The machine named a payload that it has released: a fault of this library, which must not become a crash. */
static void report_payload(struct dlsi_driver *driver, uint64_t handle)
{
	dlsi_ctx_log(driver->ctx, DLS_LOG_ERROR, "%s: payload %" PRIx64 " does not exist", driver->ops->what, handle);
}

static bool find_frames(struct dlsi_driver *driver, const struct dlsi_effect *effect, struct dlsi_frame **frames)
{
	for (size_t i = 0; i < effect->frame_count; i++) {
		uint64_t handle = driver->effects.frames[effect->frames + i];

		frames[i] = dlsi_payloads_get(&driver->payloads, handle);
		if (!frames[i]) {
			report_payload(driver, handle);
			return false;
		}
	}
	return true;
}

static void send(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	struct dlsi_frame *frames[DLSI_MESSAGE_FRAMES];
	const struct dlsi_effects *effects = &driver->effects;
	int rc;

	if (!find_frames(driver, effect, frames))
		return;
	rc = dlsi_transport_send(driver->transport, effect->peer, effects->arena.data + effect->block,
		effect->block_length, frames, effect->frame_count);
	if (rc == DLS_ELOST)
		dlsi_buffer_append(&driver->lost, &effect->peer, sizeof effect->peer);
	else if (rc)
		lose(driver, effect->peer);
}

static void log_text(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	struct dlsi_text text = dlsi_effects_text(&driver->effects, effect->log.text, effect->log.text_length);

	dlsi_ctx_log(driver->ctx, effect->log.level, "%s: %.*s", driver->ops->what, (int)text.length, text.data);
}

static void carry_out(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	switch (effect->kind) {
	case DLSI_EFFECT_SEND:
		send(driver, effect);
		break;
	case DLSI_EFFECT_RELEASE:
		if (!dlsi_payloads_release(&driver->payloads, effect->payload.handle))
			report_payload(driver, effect->payload.handle);
		break;
	case DLSI_EFFECT_DISCONNECT:
		dlsi_transport_forget(driver->transport, effect->peer);
		break;
	case DLSI_EFFECT_RECONNECT:
		reopen(driver);
		break;
	case DLSI_EFFECT_LOG:
		log_text(driver, effect);
		break;
	default:
		driver->ops->carry_out(driver, effect);
	}
}

static void step_once(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event)
{
	struct dlsi_effects *effects = &driver->effects;

	driver->ops->step(driver, now_ns, event, effects);
	for (size_t i = 0; i < effects->count && !effects->failed && !driver->failure; i++)
		carry_out(driver, &effects->at[i]);
	if (effects->failed || driver->lost.failed)
		driver->failure = DLS_ENOMEM;
	driver->member.deadline_ns = effects->deadline_ns;
	dlsi_effects_clear(effects);
}

static void tell_lost(struct dlsi_driver *driver, int64_t now_ns)
{
	for (size_t at = 0; !driver->failure && at < driver->lost.length; at += sizeof(struct dlsi_peer)) {
		struct dlsi_event event = {.kind = DLSI_EVENT_LOST};

		memcpy(&event.peer, driver->lost.data + at, sizeof event.peer);
		step_once(driver, now_ns, &event);
	}
	dlsi_buffer_clear(&driver->lost);
}

static void step(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event)
{
	if (!driver->transport)
		return;
	if (!driver->failure)
		step_once(driver, now_ns, event);
	tell_lost(driver, now_ns);
	if (driver->failure)
		give_up(driver);
}

void dlsi_driver_step(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event)
{
	step(driver, now_ns, event);
	dlsi_loop_touch(&driver->member);
}

struct dlsi_payload dlsi_driver_adopt(struct dlsi_driver *driver, struct dlsi_frame *frame)
{
	struct dlsi_payload payload = {0};

	if (driver->transport && dlsi_payloads_add(&driver->payloads, frame, &payload) == 0)
		return payload;
	driver->failure = DLS_ENOMEM;
	dlsi_frame_unref(frame);
	return payload;
}

static void take_message(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_arrival *arrival)
{
	struct dlsi_payload payloads[DLSI_MESSAGE_FRAMES];
	struct dlsi_event event = {.kind = DLSI_EVENT_MESSAGE, .peer = arrival->peer};

	for (size_t i = 0; i < arrival->frame_count; i++)
		payloads[i] = dlsi_driver_adopt(driver, arrival->frames[i]);
	event.message.block = arrival->block;
	event.message.length = arrival->length;
	event.message.frames = payloads;
	event.message.frame_count = arrival->frame_count;
	step(driver, now_ns, &event);
}

static void take(struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_arrival *arrival)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_CONNECTED, .peer = arrival->peer};

	switch (arrival->kind) {
	case DLSI_ARRIVAL_MESSAGE:
		take_message(driver, now_ns, arrival);
		return;
	case DLSI_ARRIVAL_LOST:
		event.kind = DLSI_EVENT_LOST;
		break;
	case DLSI_ARRIVAL_CONNECTED:
		break;
	}
	step(driver, now_ns, &event);
}

static struct dlsi_driver *driver_of(struct dlsi_loop_member *member)
{
	return (struct dlsi_driver *)member;
}

static unsigned descriptors(struct dlsi_loop_member *member, int *fds_out)
{
	struct dlsi_driver *driver = driver_of(member);

	if (!driver->transport)
		return 0;
	dlsi_transport_descriptors(driver->transport, fds_out);
	return DLSI_TRANSPORT_POLL;
}

static void ready(struct dlsi_loop_member *member, int64_t now_ns)
{
	struct dlsi_driver *driver = driver_of(member);
	struct dlsi_arrival arrival;

	for (int i = 0; driver->transport && i < ARRIVALS_PER_TURN; i++) {
		int rc;

		if (i && dlsi_clock_monotonic_ns() - now_ns > TAKING_NS)
			break;
		rc = dlsi_transport_next(driver->transport, &arrival);
		if (rc == 0)
			break;
		if (rc > 0) {
			take(driver, now_ns, &arrival);
		} else {
			lose(driver, arrival.peer); /* a part of what it said is missing */
			step(driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_TURN});
		}
	}
}

static void turn(struct dlsi_loop_member *member, int64_t now_ns)
{
	struct dlsi_driver *driver = driver_of(member);
	struct dlsi_event event = {.kind = DLSI_EVENT_TURN};

	if (!driver->transport) {
		try_revive(driver, now_ns);
	} else {
		if (member->deadline_ns <= now_ns)
			step(driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		event.turn.longest_ns = dlsi_loop_longest_ns(driver->ctx->loop);
		event.turn.recent_ns = dlsi_loop_recent_ns(driver->ctx->loop, now_ns);
		step(driver, now_ns, &event);
	}
	member->unread = driver->transport && dlsi_transport_has_unread(driver->transport);
}

static const struct dlsi_loop_ops loop_ops = {descriptors, ready, turn};

void dlsi_driver_init(struct dlsi_driver *driver, struct dls_ctx *ctx, const struct dlsi_driver_ops *ops)
{
	*driver = (struct dlsi_driver){.ops = ops, .ctx = ctx};
	driver->member = (struct dlsi_loop_member){.ops = &loop_ops, .deadline_ns = INT64_MAX};
	dlsi_payloads_init(&driver->payloads, &ctx->alloc);
	dlsi_effects_init(&driver->effects, &ctx->alloc);
	driver->effects.log_level = ctx->log_level;
	dlsi_buffer_init(&driver->lost, &ctx->alloc);
}

static int join(void *arg, int64_t now_ns)
{
	struct dlsi_driver *driver = arg;

	(void)now_ns;
	return dlsi_loop_add(driver->ctx->loop, &driver->member);
}

int dlsi_driver_start(struct dlsi_driver *driver, struct dlsi_transport *transport, bool dialer, struct dls_error *err)
{
	driver->transport = transport;
	driver->dialer = dialer;
	if (dlsi_loop_call(driver->ctx->loop, join, driver) == 0) {
		driver->started = true;
		return 0;
	}
	dlsi_transport_destroy(transport, 0);
	driver->transport = NULL;
	return dlsi_fail_memory(err);
}

/* A driver that leaves the loop, and the transport that it leaves behind. */
struct leaving {
	struct dlsi_driver *driver;
	struct dlsi_transport *transport;
};

static int leave(void *arg, int64_t now_ns)
{
	struct leaving *leaving = arg;
	struct dlsi_driver *driver = leaving->driver;

	step(driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_STOP});
	leaving->transport = driver->transport;
	driver->transport = NULL;
	dlsi_loop_remove(driver->ctx->loop, &driver->member);
	return 0;
}

void dlsi_driver_stop(struct dlsi_driver *driver)
{
	struct leaving leaving = {.driver = driver};

	if (!driver->started)
		return;
	dlsi_loop_call(driver->ctx->loop, leave, &leaving);
	dlsi_transport_destroy(
		leaving.transport, LINGER_MS); /* here, since a listener waits until its address is free */
	driver->started = false;
}

void dlsi_driver_fini(struct dlsi_driver *driver)
{
	dlsi_payloads_fini(&driver->payloads);
	dlsi_effects_fini(&driver->effects);
	dlsi_buffer_fini(&driver->lost);
}
