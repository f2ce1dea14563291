#include "net/fetcher.h"

#include "base/clock.h"
#include <inttypes.h>
#include <string.h>

enum { ARRIVALS_PER_STEP = 64 }; /* of one holder: 16 MiB of chunks */

void dlsi_fetcher_init(struct dlsi_fetcher *fetcher)
{
	dlsi_list_init(&fetcher->active);
	dlsi_list_init(&fetcher->holders);
}

static void drop_holder(struct dlsi_fetcher *fetcher, struct dlsi_holder *holder)
{
	dlsi_holder_destroy(holder);
	fetcher->holder_count--;
}

void dlsi_fetcher_fini(struct dlsi_fetcher *fetcher)
{
	dlsi_list_each (node, &fetcher->holders)
		drop_holder(fetcher, dlsi_list_entry(node, struct dlsi_holder, node));
}

/* Whether transfers have waited for it for a whole timeout, and nothing has come since. */
static bool is_dead(const struct dlsi_fetcher *fetcher, const struct dlsi_holder *holder, int64_t now_ns)
{
	return holder->silent_since_ns != DLSI_HOLDER_NOT_SILENT &&
	       now_ns - holder->silent_since_ns >= fetcher->timeout_ns;
}

static void leave_idle(const struct dlsi_fetcher *fetcher, struct dlsi_holder *holder, int64_t now_ns)
{
	holder->idle_since_ns = now_ns;
	if (!is_dead(fetcher, holder, now_ns)) /* nobody waits for it any more */
		holder->silent_since_ns = DLSI_HOLDER_NOT_SILENT;
}

static void leave_holder(const struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int64_t now_ns)
{
	if (transfer->holder && --transfer->holder->users == 0)
		leave_idle(fetcher, transfer->holder, now_ns);
	transfer->holder = NULL;
}

void dlsi_fetcher_end(
	struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int code, const struct dls_error *err)
{
	dlsi_list_remove(&transfer->node);
	fetcher->active_count--;
	leave_holder(fetcher, transfer, dlsi_clock_monotonic_ns());
	fetcher->ended(fetcher->arg, transfer, code, err);
}

/* Ends a transfer if the last step completed it or failed. */
static void end_if_over(
	struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int rc, const struct dls_error *err)
{
	if (rc)
		dlsi_fetcher_end(fetcher, transfer, rc < 0 ? rc : 0, err);
}

/* Makes room for one more holder: there are more holders than transfers can be active, so one is idle. */
static void drop_longest_idle(struct dlsi_fetcher *fetcher)
{
	struct dlsi_holder *longest = NULL;

	dlsi_list_each (node, &fetcher->holders) {
		struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (!holder->users && (!longest || holder->idle_since_ns < longest->idle_since_ns))
			longest = holder;
	}
	if (longest)
		drop_holder(fetcher, longest);
}

static bool is_holder_of(const struct dlsi_holder *holder, const struct dlsi_transfer *transfer)
{
	if (holder->comes != transfer->awaits)
		return false;
	return holder->comes ? dlsi_id_equal(&holder->token, &transfer->fetch.token)
			     : strcmp(holder->endpoint, transfer->fetch.endpoint) == 0;
}

static struct dlsi_holder *find_holder(const struct dlsi_fetcher *fetcher, const struct dlsi_transfer *transfer)
{
	dlsi_list_each (node, &fetcher->holders) {
		struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (is_holder_of(holder, transfer))
			return holder;
	}
	return NULL;
}

static int create_holder(struct dlsi_fetcher *fetcher, const struct dlsi_transfer *transfer,
	struct dlsi_holder **holder_out, struct dls_error *err)
{
	int rc;

	if (fetcher->holder_count == DLSI_FETCHER_HOLDERS)
		drop_longest_idle(fetcher);
	if (transfer->awaits)
		rc = dlsi_holder_await(fetcher->alloc, fetcher->server, &transfer->fetch.token, holder_out, err);
	else
		rc = dlsi_holder_create(fetcher->alloc, fetcher->context, transfer->fetch.endpoint, holder_out, err);
	if (rc)
		return rc;
	dlsi_list_append(&fetcher->holders, &(*holder_out)->node);
	fetcher->holder_count++;
	return 0;
}

static int use_holder(struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, struct dls_error *err)
{
	struct dlsi_holder *holder = find_holder(fetcher, transfer);
	int rc = holder ? 0 : create_holder(fetcher, transfer, &holder, err);

	if (rc)
		return rc;
	transfer->holder = holder;
	holder->users++;
	return 0;
}

/* Whether the transfer can wait for its holder's connection where it gets none to it. */
static bool can_await(const struct dlsi_fetcher *fetcher, const struct dlsi_transfer *transfer)
{
	return transfer->fetch.call && fetcher->server && !transfer->awaits;
}

/* Without a connection the holder is asked for one, once a second at most. */
static void call(struct dlsi_transfer *transfer, int64_t now_ns)
{
	struct dlsi_holder *holder = transfer->holder;

	if (!transfer->awaits || holder->peer.generation || transfer->called || now_ns < holder->probe_ns)
		return;
	holder->probe_ns = now_ns + DLSI_SECOND_NS;
	transfer->called = true;
	transfer->fetch.call(transfer->fetch.arg);
}

/* Whether this process offers the blob itself. */
static bool is_own(const struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer)
{
	const struct dlsi_fetch *fetch = &transfer->fetch;

	if (dlsi_offers_open(fetcher->offers, &fetch->token, &fetch->blob.name, &transfer->offer, NULL))
		return false;
	if (dlsi_offer_length(transfer->offer) == fetch->blob.length)
		return true;
	dlsi_offer_release(transfer->offer);
	transfer->offer = NULL;
	return false;
}

unsigned dlsi_fetcher_poll_items(const struct dlsi_fetcher *fetcher, zmq_pollitem_t *items)
{
	unsigned count = 0;

	dlsi_list_each (node, &fetcher->holders) {
		const struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (holder->comes)
			continue;
		dlsi_transport_poll_items(holder->transport, items + count);
		count += DLSI_TRANSPORT_POLL;
	}
	return count;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Of a transfer from a holder: its own, or with one that fails fast the holder's if that comes first, or when it gives
 * up to connect to it. */
static int64_t deadline_of(const struct dlsi_fetcher *fetcher, const struct dlsi_transfer *transfer)
{
	const struct dlsi_holder *holder = transfer->holder;
	int64_t since_ns = holder->silent_since_ns, due_ns = transfer->deadline_ns;

	if (since_ns == DLSI_HOLDER_NOT_SILENT)
		return due_ns;
	if (transfer->fetch.fails_fast)
		due_ns = earlier(due_ns, since_ns + fetcher->timeout_ns);
	if (can_await(fetcher, transfer) && !holder->peer.generation)
		due_ns = earlier(due_ns, since_ns + DLSI_REACH_MS * DLSI_MILLISECOND_NS);
	return due_ns;
}

int64_t dlsi_fetcher_due_ns(const struct dlsi_fetcher *fetcher)
{
	int64_t due = INT64_MAX;

	dlsi_list_each (node, &fetcher->active) {
		const struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);
		int64_t own = transfer->offer ? 0 : deadline_of(fetcher, transfer);

		due = own < due ? own : due;
	}
	dlsi_list_each (node, &fetcher->holders) {
		const struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);
		int64_t own = holder->users ? INT64_MAX : holder->idle_since_ns + fetcher->timeout_ns;

		due = own < due ? own : due;
	}
	return due;
}

static void begin_all(struct dlsi_fetcher *fetcher, struct dlsi_holder *holder)
{
	struct dls_error err = {0};

	dlsi_list_each (node, &fetcher->active) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);

		if (transfer->holder == holder)
			end_if_over(fetcher, transfer, dlsi_transfer_begin(transfer, &err), &err);
	}
}

/* The transfer that an answer is for; NULL if it has ended meanwhile. */
static struct dlsi_transfer *find(const struct dlsi_fetcher *fetcher, const struct dlsi_holder *holder, uint64_t number)
{
	dlsi_list_each (node, &fetcher->active) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);

		if (transfer->holder == holder && transfer->number == number)
			return transfer;
	}
	return NULL;
}

static void take_record(struct dlsi_fetcher *fetcher, struct dlsi_holder *holder, const struct dlsi_record *record,
	struct dlsi_frame *frame, int64_t now_ns)
{
	uint64_t number = record->kind == DLSI_DATA   ? record->data.fetch
			  : record->kind == DLSI_LENT ? record->lent.fetch
						      : record->error.fetch;
	struct dlsi_transfer *transfer = find(fetcher, holder, number);
	struct dls_error err = {0};
	uint64_t before;
	int rc;

	if (!transfer) {
		if (record->kind == DLSI_LENT)
			dlsi_holder_close(holder, number);
		return;
	}
	before = dlsi_transfer_progress(transfer);
	rc = dlsi_transfer_take(transfer, record, frame, &err);
	if (dlsi_transfer_progress(transfer) > before)
		transfer->deadline_ns = now_ns + fetcher->timeout_ns;
	end_if_over(fetcher, transfer, rc, &err);
}

static void take_records(
	struct dlsi_fetcher *fetcher, struct dlsi_holder *holder, const struct dlsi_arrival *arrival, int64_t now_ns)
{
	struct dlsi_message message;
	struct dlsi_record record;
	size_t frame = 0;

	holder->silent_since_ns = holder->users ? now_ns : DLSI_HOLDER_NOT_SILENT;
	if (dlsi_message_open(arrival->block, arrival->length, arrival->frame_count, &message, NULL))
		return;
	while (dlsi_message_next(&message, &record)) {
		bool has_frame = dlsi_record_frames(&record) > 0;

		if (record.kind == DLSI_DATA || record.kind == DLSI_LENT || record.kind == DLSI_ERROR)
			take_record(fetcher, holder, &record, has_frame ? arrival->frames[frame] : NULL, now_ns);
		frame += has_frame;
	}
}

static void take_message(
	struct dlsi_fetcher *fetcher, struct dlsi_holder *holder, const struct dlsi_arrival *arrival, int64_t now_ns)
{
	take_records(fetcher, holder, arrival, now_ns);
	for (size_t i = 0; i < arrival->frame_count; i++)
		dlsi_frame_unref(arrival->frames[i]);
}

/* Begins with it anew what is under way. */
static void take_connection(
	struct dlsi_fetcher *fetcher, struct dlsi_holder *holder, struct dlsi_peer peer, int64_t now_ns)
{
	holder->peer = peer;
	holder->probe_ns = now_ns;
	holder->out_of_reach = false;
	if (is_dead(fetcher, holder, now_ns))
		dlsi_holder_probe(holder, now_ns);
	begin_all(fetcher, holder);
}

static void step_holder(struct dlsi_fetcher *fetcher, struct dlsi_holder *holder, int64_t now_ns)
{
	struct dlsi_arrival arrival;
	int rc = 1;

	for (int i = 0; i < ARRIVALS_PER_STEP && rc == 1; i++) {
		rc = dlsi_transport_next(holder->transport, &arrival);
		if (rc != 1)
			break;
		if (arrival.kind == DLSI_ARRIVAL_MESSAGE)
			take_message(fetcher, holder, &arrival, now_ns);
		else if (arrival.kind == DLSI_ARRIVAL_CONNECTED)
			take_connection(fetcher, holder, arrival.peer, now_ns);
		else
			holder->peer = (struct dlsi_peer){0};
	}
	if (rc < 0) { /* an answer is missing now */
		holder->peer = (struct dlsi_peer){0};
		dlsi_transport_reopen(holder->transport, NULL); /* if that fails too, its transfers run out of time */
	}
}

/* Those who wait for a holder that serves this token have it. */
static void take_serve(
	struct dlsi_fetcher *fetcher, struct dlsi_peer peer, const struct dlsi_serve *serve, int64_t now_ns)
{
	dlsi_list_each (node, &fetcher->holders) {
		struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (holder->comes && dlsi_id_equal(&holder->token, &serve->token))
			take_connection(fetcher, holder, peer, now_ns);
	}
}

static bool comes_as(const struct dlsi_holder *holder, struct dlsi_peer peer)
{
	return holder->comes && dlsi_peer_equal(holder->peer, peer);
}

void dlsi_fetcher_hear(struct dlsi_fetcher *fetcher, const struct dlsi_arrival *arrival, int64_t now_ns)
{
	struct dlsi_message message;
	struct dlsi_record record;

	dlsi_list_each (node, &fetcher->holders) {
		struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (comes_as(holder, arrival->peer))
			take_records(fetcher, holder, arrival, now_ns);
	}
	if (dlsi_message_open(arrival->block, arrival->length, arrival->frame_count, &message, NULL))
		return;
	while (dlsi_message_next(&message, &record))
		if (record.kind == DLSI_SERVE)
			take_serve(fetcher, arrival->peer, &record.serve, now_ns);
}

void dlsi_fetcher_lose(struct dlsi_fetcher *fetcher, struct dlsi_peer peer, int64_t now_ns)
{
	dlsi_list_each (node, &fetcher->holders) {
		struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (comes_as(holder, peer))
			holder->peer = (struct dlsi_peer){0};
	}
	dlsi_list_each (node, &fetcher->active) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);

		if (transfer->holder)
			call(transfer, now_ns);
	}
}

static int fail_silent(const struct dlsi_transfer *transfer, int64_t silent_ns, struct dls_error *err)
{
	if (transfer->awaits)
		return dlsi_fail(err, DLS_EUNREACHABLE,
			"nobody can connect to the holder%s%s, and it has not connected here for %" PRId64 " ms",
			*transfer->fetch.endpoint ? " at " : "", transfer->fetch.endpoint,
			silent_ns / DLSI_MILLISECOND_NS);
	return dlsi_fail(err, DLS_EUNREACHABLE, "nothing has come from the holder at %s for %" PRId64 " ms",
		transfer->fetch.endpoint, silent_ns / DLSI_MILLISECOND_NS);
}

/* Begins it at its holder, now or when that is connected. */
static int begin(struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int64_t now_ns, struct dls_error *err)
{
	struct dlsi_holder *holder;
	int rc = use_holder(fetcher, transfer, err);

	if (rc == 0 && transfer->holder->out_of_reach && can_await(fetcher, transfer)) {
		leave_holder(fetcher, transfer, now_ns);
		transfer->awaits = true;
		rc = use_holder(fetcher, transfer, err);
	}
	if (rc)
		return rc;
	holder = transfer->holder;
	call(transfer, now_ns);
	if (transfer->fetch.fails_fast && is_dead(fetcher, holder, now_ns)) {
		if (holder->peer.generation) /* nothing else would be said over this connection */
			dlsi_holder_probe(holder, now_ns);
		return fail_silent(transfer, now_ns - holder->silent_since_ns, err);
	}
	if (holder->silent_since_ns == DLSI_HOLDER_NOT_SILENT)
		holder->silent_since_ns = now_ns;
	return holder->peer.generation ? dlsi_transfer_begin(transfer, err) : 0;
}

void dlsi_fetcher_start(struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int64_t now_ns)
{
	struct dls_error err = {0};
	int rc;

	dlsi_list_append(&fetcher->active, &transfer->node);
	fetcher->active_count++;
	transfer->deadline_ns = now_ns + fetcher->timeout_ns;
	if (is_own(fetcher, transfer)) {
		end_if_over(fetcher, transfer, dlsi_transfer_copy(transfer, &err), &err);
		return;
	}
	transfer->awaits = !*transfer->fetch.endpoint && can_await(fetcher, transfer);
	rc = begin(fetcher, transfer, now_ns, &err);
	if (rc == 0 && !transfer->awaits && !transfer->holder->peer.generation)
		step_holder(fetcher, transfer->holder, now_ns); /* it may be connected by now */
	else
		end_if_over(fetcher, transfer, rc, &err);
}

/* Its time is up: with this holder, or altogether. */
static void expire(struct dlsi_fetcher *fetcher, struct dlsi_transfer *transfer, int64_t now_ns)
{
	struct dls_error err = {0};
	int rc;

	if (can_await(fetcher, transfer) && !transfer->holder->peer.generation) {
		transfer->holder->out_of_reach = true;
		leave_holder(fetcher, transfer, now_ns);
		transfer->awaits = true;
		transfer->deadline_ns = now_ns + fetcher->timeout_ns;
		rc = begin(fetcher, transfer, now_ns, &err);
		end_if_over(fetcher, transfer, rc, &err);
		return;
	}
	rc = fail_silent(transfer, fetcher->timeout_ns, &err);
	dlsi_fetcher_end(fetcher, transfer, rc, &err);
}

void dlsi_fetcher_step(struct dlsi_fetcher *fetcher, int64_t now_ns)
{
	dlsi_list_each (node, &fetcher->holders) {
		struct dlsi_holder *holder = dlsi_list_entry(node, struct dlsi_holder, node);

		if (!holder->comes)
			step_holder(fetcher, holder, now_ns);
		if (!holder->users && holder->idle_since_ns + fetcher->timeout_ns <= now_ns)
			drop_holder(fetcher, holder);
	}
	dlsi_list_each (node, &fetcher->active) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);
		struct dls_error err = {0};

		if (transfer->offer)
			end_if_over(fetcher, transfer, dlsi_transfer_copy(transfer, &err), &err);
		else if (deadline_of(fetcher, transfer) <= now_ns)
			expire(fetcher, transfer, now_ns);
	}
}
