/* Links with capacity. A link carries one thing at a time at its full speed: messages in the order in which they are
 * sent, and in the time that they leave, transfers one after another (a message that comes in between interrupts one).
 * A transfer goes whole through its holder's link and then, the latency later, through the receiver's. One of few bytes
 * counts as a message, since who serves many readers gives each a chunk in turn.
 *
 * First in, first out leaves a link idle only when nobody wants it, as sharing it fairly would; who shares a full one
 * gets his bytes sooner or later than he would, all of them together at the same time.
 *
 * Whatever decides when something is carried, check() sums what was: never two things at once, and in no window more
 * than the capacity. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>

#define WINDOW_NS     (100 * SIM_MS)
#define REQUEST_BYTES 200
#define SHORT_BYTES   (16 * 1024)
#define ROUNDING      2 /* bytes */

static uint64_t bytes_in(const struct sim_link *link, int64_t duration_ns)
{
	return (uint64_t)((unsigned __int128)link->bytes_per_s * (uint64_t)duration_ns / (uint64_t)SIM_S);
}

static int64_t time_of(const struct sim_link *link, uint64_t bytes)
{
	unsigned __int128 scaled = (unsigned __int128)bytes * (uint64_t)SIM_S;

	return (int64_t)((scaled + link->bytes_per_s - 1) / link->bytes_per_s);
}

void sim_link_init(struct sim_link *link, uint64_t bytes_per_s)
{
	*link = (struct sim_link){.bytes_per_s = bytes_per_s};
	dlsi_list_init(&link->waiting);
}

void sim_link_clear(struct sim_link *link)
{
	dlsi_list_each (node, &link->waiting)
		free(dlsi_list_entry(node, struct sim_transfer, node));
	dlsi_list_init(&link->waiting);
}

static void count_in_window(struct sim *sim, struct sim_link *link, int64_t window, uint64_t bytes)
{
	if (window != link->window) {
		link->window = window;
		link->window_bytes = 0;
	}
	link->window_bytes += bytes;
	if (link->window_bytes > bytes_in(link, WINDOW_NS) + WINDOW_NS / SIM_MS * ROUNDING)
		sim_fail(sim, "a link has carried %" PRIu64 " bytes in %d ms", link->window_bytes,
			(int)(WINDOW_NS / SIM_MS));
}

/* It has carried so many bytes in this time. */
static void check(struct sim *sim, struct sim_link *link, int64_t from_ns, int64_t to_ns, uint64_t bytes)
{
	if (from_ns < link->used_until_ns)
		sim_fail(sim, "a link carries two things at once");
	if (bytes > bytes_in(link, to_ns - from_ns) + ROUNDING)
		sim_fail(sim, "a link carries %" PRIu64 " bytes in %" PRId64 " ns", bytes, to_ns - from_ns);
	link->used_until_ns = to_ns;
	link->bytes += bytes;
	for (int64_t window = from_ns / WINDOW_NS; bytes; window++) {
		int64_t end_ns = (window + 1) * WINDOW_NS < to_ns ? (window + 1) * WINDOW_NS : to_ns;
		uint64_t part = end_ns == to_ns ? bytes : bytes_in(link, end_ns - from_ns);

		if (part > bytes)
			part = bytes;
		count_in_window(sim, link, window, part);
		bytes -= part;
		from_ns = end_ns;
	}
}

static struct sim_transfer *first(const struct sim_link *link)
{
	return dlsi_list_empty(&link->waiting) ? NULL : dlsi_list_entry(link->waiting.next, struct sim_transfer, node);
}

static int64_t end_of_first(const struct sim_link *link)
{
	return link->served_from_ns + time_of(link, first(link)->bytes - link->served_bytes);
}

/* What the first transfer got until now. */
static void settle(struct sim *sim, struct sim_link *link)
{
	uint64_t left, bytes;

	if (!first(link) || link->served_from_ns >= sim->now_ns)
		return;
	left = first(link)->bytes - link->served_bytes;
	bytes = bytes_in(link, sim->now_ns - link->served_from_ns);
	if (bytes > left)
		bytes = left;
	check(sim, link, link->served_from_ns, sim->now_ns, bytes);
	link->served_bytes += bytes;
	link->served_from_ns = sim->now_ns;
}

int64_t sim_link_message(struct sim *sim, struct sim_link *link, uint64_t bytes)
{
	int64_t from_ns = link->messages_until_ns > sim->now_ns ? link->messages_until_ns : sim->now_ns;

	settle(sim, link);
	link->messages_until_ns = from_ns + time_of(link, bytes);
	check(sim, link, from_ns, link->messages_until_ns, bytes);
	link->served_from_ns = link->messages_until_ns;
	return link->messages_until_ns;
}

static void serve(struct sim *sim, struct sim_link *link);
static int64_t latency(struct sim *sim);
static void reach(struct sim *sim, struct sim_happening *happening);

static void step(struct sim *sim, struct sim_happening *happening)
{
	struct sim_link *link = happening->link;
	struct sim_transfer *transfer = first(link);

	if (end_of_first(link) > sim->now_ns) { /* messages came in between */
		sim_schedule(sim, end_of_first(link) - sim->now_ns, NULL, step)->link = link;
		return;
	}
	settle(sim, link);
	dlsi_list_remove(&transfer->node);
	if (link == &transfer->from->uplink)
		sim_schedule(sim, latency(sim), NULL, reach)->transfer = transfer;
	else
		transfer->arrived(sim, transfer);
	if (first(link))
		serve(sim, link);
}

/* Begins with the first. */
static void serve(struct sim *sim, struct sim_link *link)
{
	link->served_bytes = 0;
	link->served_from_ns = link->messages_until_ns > sim->now_ns ? link->messages_until_ns : sim->now_ns;
	sim_schedule(sim, end_of_first(link) - sim->now_ns, NULL, step)->link = link;
}

static void enter(struct sim *sim, struct sim_link *link, struct sim_transfer *transfer)
{
	bool is_first = !first(link);

	dlsi_list_append(&link->waiting, &transfer->node);
	if (is_first)
		serve(sim, link);
}

static void is_here(struct sim *sim, struct sim_happening *happening)
{
	happening->transfer->arrived(sim, happening->transfer);
}

static int64_t latency(struct sim *sim)
{
	return sim->plan ? sim->plan->latency_ns : (int64_t)sim_below(sim, SIM_MS);
}

static void reach(struct sim *sim, struct sim_happening *happening)
{
	struct sim_transfer *transfer = happening->transfer;
	struct sim_link *link = &transfer->to->downlink;

	if (transfer->bytes <= SHORT_BYTES)
		sim_schedule(sim, sim_link_message(sim, link, transfer->bytes) - sim->now_ns, NULL, is_here)->transfer =
			transfer;
	else
		enter(sim, link, transfer);
}

static void asked(struct sim *sim, struct sim_happening *happening)
{
	struct sim_transfer *transfer = happening->transfer;
	struct sim_link *link = &transfer->from->uplink;

	if (transfer->bytes <= SHORT_BYTES)
		sim_schedule(
			sim, sim_link_message(sim, link, transfer->bytes) - sim->now_ns + latency(sim), NULL, reach)
			->transfer = transfer;
	else
		enter(sim, link, transfer);
}

static void asks(struct sim *sim, struct sim_happening *happening)
{
	int64_t end_ns = sim_link_message(sim, &happening->transfer->from->downlink, REQUEST_BYTES);

	sim_schedule(sim, end_ns - sim->now_ns, NULL, asked)->transfer = happening->transfer;
}

void sim_transfer_begin(struct sim *sim, struct sim_transfer *transfer)
{
	int64_t sent_ns;

	dlsi_list_init(&transfer->node);
	if (transfer->from == transfer->to) {
		sim_schedule(sim, 0, NULL, is_here)->transfer = transfer;
		return;
	}
	sent_ns = sim_link_message(sim, &transfer->to->uplink, REQUEST_BYTES);
	sim_schedule(sim, sent_ns - sim->now_ns + latency(sim), NULL, asks)->transfer = transfer;
}
