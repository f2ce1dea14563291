/* The driver between a transport and a machine that does what it is told: what is sent arrives with its payloads, every
 * payload is dropped, losses are told, and a machine without memory is stopped. */
#include "base/clock.h"
#include "base/condition.h"
#include "node/driver.h"
#include "test/unit/unit.h"
#include <string.h>

enum { MOST_EVENTS = 64 };

/* A machine: sends back what it gets if `echo`, and remembers what happened. */
struct machine {
	struct dlsi_driver driver; /* first */
	bool echo;
	bool exhausted; /* CANCEL finds no memory */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned seen[DLSI_EVENT_STOP + 1]; /* events by kind */
	unsigned broken;
	struct dlsi_peer peer; /* of the last event that had one */
	char block[64];
	char frames[64]; /* all payloads of the last message */
};

static struct machine *machine_of(struct dlsi_driver *driver)
{
	return (struct machine *)driver;
}

static void remember_frames(struct machine *machine, const struct dlsi_event *event)
{
	size_t at = 0;

	for (size_t i = 0; i < event->message.frame_count; i++) {
		const struct dlsi_frame *frame =
			dlsi_payloads_get(&machine->driver.payloads, event->message.frames[i].handle);

		assert_int_equal(dlsi_frame_size(frame), event->message.frames[i].bytes);
		memcpy(machine->frames + at, dlsi_frame_data(frame), dlsi_frame_size(frame));
		at += dlsi_frame_size(frame);
	}
	machine->frames[at] = '\0';
}

static void take_message(struct machine *machine, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	uint64_t handles[8];

	memcpy(machine->block, event->message.block, event->message.length);
	machine->block[event->message.length] = '\0';
	remember_frames(machine, event);
	for (size_t i = 0; i < event->message.frame_count; i++)
		handles[i] = event->message.frames[i].handle;
	if (machine->echo)
		dlsi_effects_send(effects, event->peer, event->message.block, event->message.length, handles,
			event->message.frame_count);
	for (size_t i = 0; i < event->message.frame_count; i++)
		dlsi_effects_release(effects, event->message.frames[i]);
}

static void step(
	struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	struct machine *machine = machine_of(driver);

	(void)now_ns;
	pthread_mutex_lock(&machine->mutex);
	machine->seen[event->kind]++;
	if (event->peer.generation)
		machine->peer = event->peer;
	if (event->kind == DLSI_EVENT_MESSAGE)
		take_message(machine, event, effects);
	if (event->kind == DLSI_EVENT_TIMER)
		effects->deadline_ns = INT64_MAX;
	effects->failed |= machine->exhausted && event->kind == DLSI_EVENT_CANCEL;
	pthread_cond_broadcast(&machine->changed);
	pthread_mutex_unlock(&machine->mutex);
}

static void carry_out(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	(void)driver;
	fail_msg("effect %d", (int)effect->kind);
}

static void note_broken(struct dlsi_driver *driver, int code)
{
	struct machine *machine = machine_of(driver);

	pthread_mutex_lock(&machine->mutex);
	assert_int_equal(code, DLS_ENOMEM);
	machine->broken++;
	pthread_cond_broadcast(&machine->changed);
	pthread_mutex_unlock(&machine->mutex);
}

static const struct dlsi_driver_ops ops = {.what = "test", .step = step, .carry_out = carry_out, .broken = note_broken};

static struct dls_ctx *make_ctx(void)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_ctx *ctx;

	options.resize = unit_alloc()->resize;
	options.resize_arg = unit_alloc()->arg;
	assert_int_equal(dlsi_ctx_create(&options, &ctx, NULL), 0);
	return ctx;
}

static void start(struct machine *machine, struct dls_ctx *ctx, const char *endpoint, bool dialer)
{
	struct dlsi_transport_config config = {.context = ctx->zmq, .endpoint = endpoint};
	struct dlsi_transport *transport;

	memset(machine, 0, sizeof *machine);
	pthread_mutex_init(&machine->mutex, NULL);
	dlsi_condition_init(&machine->changed);
	dlsi_driver_init(&machine->driver, ctx, &ops);
	machine->driver.effects.deadline_ns = INT64_MAX;
	assert_int_equal(
		(dialer ? dlsi_transport_dial : dlsi_transport_listen)(&ctx->alloc, &config, &transport, NULL), 0);
	assert_int_equal(dlsi_driver_start(&machine->driver, transport, dialer, NULL), 0);
}

static void stop(struct machine *machine)
{
	dlsi_driver_stop(&machine->driver);
	dlsi_driver_fini(&machine->driver);
	pthread_cond_destroy(&machine->changed);
	pthread_mutex_destroy(&machine->mutex);
}

static void wait_for(struct machine *machine, const unsigned *counter, unsigned value)
{
	pthread_mutex_lock(&machine->mutex);
	while (*counter < value)
		dlsi_condition_wait(&machine->changed, &machine->mutex, INT64_MAX);
	pthread_mutex_unlock(&machine->mutex);
}

/* What a test tells the machine to do, on the loop's thread. */
struct order {
	struct machine *machine;
	const char *text;
	size_t length; /* of each of two payloads */
};

static int send_order(void *arg, int64_t now_ns)
{
	struct order *order = arg;
	struct machine *machine = order->machine;
	struct dlsi_frame *frame = dlsi_frame_copy(&machine->driver.ctx->alloc, "0123456789", order->length);
	struct dlsi_payload payload = dlsi_driver_adopt(&machine->driver, frame);
	const uint64_t handles[2] = {payload.handle, payload.handle};

	dlsi_effects_send(&machine->driver.effects, machine->peer, (const uint8_t *)order->text, strlen(order->text),
		handles, order->length ? 2 : 0);
	dlsi_effects_release(&machine->driver.effects, payload);
	dlsi_driver_step(&machine->driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_CANCEL});
	return 0;
}

static void send(struct machine *machine, const char *text, size_t length)
{
	struct order order = {machine, text, length};

	dlsi_loop_call(machine->driver.ctx->loop, send_order, &order);
}

static void exchange(const char *address)
{
	struct dls_ctx *ctx = make_ctx();
	struct machine server, client;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];

	start(&server, ctx, address, false);
	server.echo = true;
	snprintf(endpoint, sizeof endpoint, "%s", dlsi_transport_endpoint(server.driver.transport));
	start(&client, ctx, endpoint, true);
	wait_for(&client, &client.seen[DLSI_EVENT_CONNECTED], 1);
	send(&client, "hello", 7);
	wait_for(&client, &client.seen[DLSI_EVENT_MESSAGE], 1);
	assert_string_equal(client.block, "hello");
	assert_string_equal(client.frames, "01234560123456");
	wait_for(&client, &client.seen[DLSI_EVENT_TURN], 1);
	stop(&client);
	assert_int_equal(client.seen[DLSI_EVENT_STOP], 1);
	stop(&server);
	dlsi_ctx_destroy(ctx); /* with all payloads dropped, or the test ends with blocks not freed */
}

static void test_messages_with_payloads(void **state)
{
	(void)state;
	exchange("tcp://127.0.0.1:0");
	exchange("inproc://test");
}

static void test_what_cannot_be_sent_is_a_loss(void **state)
{
	struct dls_ctx *ctx = make_ctx();
	struct machine server, client;

	(void)state;
	start(&server, ctx, "tcp://127.0.0.1:0", false);
	start(&client, ctx, dlsi_transport_endpoint(server.driver.transport), true);
	wait_for(&client, &client.seen[DLSI_EVENT_CONNECTED], 1);
	send(&client, "here I am", 0);
	wait_for(&server, &server.seen[DLSI_EVENT_MESSAGE], 1);
	server.peer.generation++; /* a peer of that place that never was */
	send(&server, "who?", 3);
	wait_for(&server, &server.seen[DLSI_EVENT_LOST], 1);
	stop(&client);
	wait_for(&server, &server.seen[DLSI_EVENT_LOST], 2); /* now the real one */
	stop(&server);
	dlsi_ctx_destroy(ctx);
}

static int set_deadline(void *arg, int64_t now_ns)
{
	struct machine *machine = arg;

	machine->driver.effects.deadline_ns = now_ns + 1;
	dlsi_driver_step(&machine->driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_CANCEL});
	return 0;
}

static void test_deadline_comes(void **state)
{
	struct dls_ctx *ctx = make_ctx();
	struct machine machine;

	(void)state;
	start(&machine, ctx, "inproc://test", false);
	dlsi_loop_call(ctx->loop, set_deadline, &machine);
	wait_for(&machine, &machine.seen[DLSI_EVENT_TIMER], 1);
	stop(&machine);
	assert_int_equal(machine.seen[DLSI_EVENT_TIMER], 1);
	dlsi_ctx_destroy(ctx);
}

static void test_machine_without_memory_is_stopped(void **state)
{
	struct dls_ctx *ctx = make_ctx();
	struct machine machine;

	(void)state;
	start(&machine, ctx, "inproc://test", false);
	pthread_mutex_lock(&machine.mutex);
	machine.exhausted = true;
	pthread_mutex_unlock(&machine.mutex);
	send(&machine, "anything", 5);
	wait_for(&machine, &machine.broken, 1);
	send(&machine, "more", 5); /* the payload is dropped all the same */
	assert_int_equal(machine.seen[DLSI_EVENT_CANCEL], 1);
	stop(&machine);
	assert_int_equal(machine.broken, 1);
	assert_int_equal(machine.seen[DLSI_EVENT_STOP], 0);
	dlsi_ctx_destroy(ctx);
}

UNIT_MAIN(test_messages_with_payloads, test_what_cannot_be_sent_is_a_loss, test_deadline_comes,
	test_machine_without_memory_is_stopped)
