/* Memory that a holder lends to readers of the same machine: copied at once, kept until it is given back, lent to
 * nobody who is further away, and never mistaken for that of another process. */
#include "net/direct.h"
#include "proto/message.h"
#include "test/unit/fetch.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 1000000, PART = 300000 };

static const struct dlsi_id token = {{7, 7}};

/* A side that the test plays itself. */
struct side {
	struct dlsi_transport *transport;
	struct dlsi_peer peer;
	struct dlsi_arrival arrival;
	struct dlsi_message message;
};

static struct dlsi_record next_record(struct side *side)
{
	struct dlsi_record record;

	while (!dlsi_message_next(&side->message, &record)) {
		side->arrival = unit_expect(side->transport, DLSI_ARRIVAL_MESSAGE);
		side->peer = side->arrival.peer;
		assert_int_equal(dlsi_message_open(side->arrival.block, side->arrival.length, side->arrival.frame_count,
					 &side->message, NULL),
			0);
	}
	return record;
}

static void say(const struct side *side, struct dlsi_record record, struct dlsi_frame *frame)
{
	static const struct dlsi_id no_cluster;
	struct dlsi_message_writer writer;
	struct dlsi_buffer buffer;

	dlsi_buffer_init(&buffer, unit_alloc());
	writer = dlsi_message_begin(&buffer, &no_cluster, 0);
	dlsi_message_add(&writer, &record);
	assert_int_equal(
		dlsi_transport_send(side->transport, side->peer, buffer.data, buffer.length, &frame, frame != NULL), 0);
	dlsi_buffer_fini(&buffer);
}

static void test_reads_what_it_can_prove(void **state)
{
	uint8_t *bytes = unit_bytes(1, PART), *copy = test_malloc(PART);
	struct dlsi_id witness = {{1, 2, 3}};
	struct dlsi_direct_place place = dlsi_direct_lend(bytes, &witness), wrong;

	(void)state;
	assert_true(dlsi_direct_read(&place, copy, PART));
	assert_memory_equal(copy, bytes, PART);
	wrong = place;
	wrong.witness.bytes[15] ^= 1; /* as in a process of the same number */
	assert_false(dlsi_direct_read(&wrong, copy, PART));
	wrong = place;
	wrong.witness_address = 0;
	assert_false(dlsi_direct_read(&wrong, copy, PART));
	wrong = place;
	wrong.address = 0;
	assert_false(dlsi_direct_read(&wrong, copy, PART));
	wrong = place;
	wrong.process += UINT64_C(1) << 32;
	assert_false(dlsi_direct_read(&wrong, copy, PART));
	test_free(bytes);
	test_free(copy);
}

static void count_release(void *arg, const void *data)
{
	(void)data;
	atomic_fetch_add((atomic_uint *)arg, 1);
}

/* A holder that offers `bytes`, whose release it counts, and a reader that the test plays. */
struct loans {
	void *context;
	struct dlsi_dataplane *holder;
	struct side reader;
	uint8_t *bytes;
	struct dlsi_blob blob;
	atomic_uint released;
};

static void begin(struct loans *loans)
{
	struct dlsi_source source;

	memset(loans, 0, sizeof *loans);
	loans->context = zmq_ctx_new();
	loans->holder = unit_plane(loans->context, "tcp://127.0.0.1:0", 0);
	loans->reader.transport = unit_dial(loans->context, dlsi_dataplane_endpoint(loans->holder));
	loans->reader.peer = unit_expect(loans->reader.transport, DLSI_ARRIVAL_CONNECTED).peer;
	loans->bytes = unit_bytes(1, LENGTH);
	loans->blob = unit_blob(loans->bytes, LENGTH, DLSI_PROOF_CHECKSUM);
	source = (struct dlsi_source){
		.frame = dlsi_frame_wrap(unit_alloc(), loans->bytes, LENGTH, count_release, &loans->released)};
	assert_int_equal(dlsi_dataplane_offer(loans->holder, &token, &loans->blob, &source, NULL), 0);
	dlsi_frame_unref(source.frame);
}

static void end(struct loans *loans)
{
	dlsi_transport_destroy(loans->reader.transport, 0);
	dlsi_dataplane_destroy(loans->holder);
	zmq_ctx_term(loans->context);
	test_free(loans->bytes);
}

static struct dlsi_record ask(struct loans *loans, uint64_t fetch, bool direct)
{
	struct dlsi_record open = {.kind = DLSI_OPEN,
		.open = {.fetch = fetch, .token = token, .name = loans->blob.name, .direct = direct}};

	say(&loans->reader, open, NULL);
	return next_record(&loans->reader);
}

static void give_back(struct loans *loans, uint64_t fetch)
{
	say(&loans->reader, (struct dlsi_record){.kind = DLSI_CLOSE, .close = {.fetch = fetch}}, NULL);
}

static void wait_for_release(struct loans *loans)
{
	while (!atomic_load(&loans->released))
		sched_yield();
}

static void test_is_kept_until_it_is_given_back(void **state)
{
	struct dlsi_record lent;
	struct loans loans;
	uint8_t *copy = test_malloc(LENGTH);

	(void)state;
	begin(&loans);
	lent = ask(&loans, 5, true);
	assert_int_equal(lent.kind, DLSI_LENT);
	assert_int_equal(lent.lent.fetch, 5);
	assert_int_equal(lent.lent.total, LENGTH);
	dlsi_dataplane_withdraw(loans.holder, &token, &loans.blob.name);
	assert_int_equal(ask(&loans, 6, true).kind, DLSI_ERROR);
	assert_int_equal(atomic_load(&loans.released), 0);
	assert_true(dlsi_direct_read(&(struct dlsi_direct_place){lent.lent.process, lent.lent.address,
					     lent.lent.witness_address, lent.lent.witness},
		copy, LENGTH));
	assert_memory_equal(copy, loans.bytes, LENGTH);
	give_back(&loans, 4);
	assert_int_equal(ask(&loans, 7, true).kind, DLSI_ERROR);
	assert_int_equal(atomic_load(&loans.released), 0);
	give_back(&loans, 5);
	wait_for_release(&loans);
	end(&loans);
	test_free(copy);
}

static void test_ends_with_the_connection(void **state)
{
	struct loans loans;

	(void)state;
	begin(&loans);
	assert_int_equal(ask(&loans, 1, true).kind, DLSI_LENT);
	dlsi_dataplane_withdraw(loans.holder, &token, &loans.blob.name);
	dlsi_transport_destroy(loans.reader.transport, 0);
	loans.reader.transport = NULL;
	wait_for_release(&loans);
	end(&loans);
}

static void test_only_when_asked_and_not_too_much(void **state)
{
	struct loans loans;

	(void)state;
	begin(&loans);
	assert_int_equal(ask(&loans, 0, false).kind, DLSI_DATA);
	for (uint64_t i = 1; i <= DLSI_FETCHES_AT_ONCE; i++)
		assert_int_equal(ask(&loans, i, true).kind, DLSI_LENT);
	assert_int_equal(ask(&loans, 100, true).kind, DLSI_DATA);
	give_back(&loans, 3);
	assert_int_equal(ask(&loans, 101, true).kind, DLSI_LENT);
	end(&loans);
}

/* What it cannot read it is sent; and it does not ask such a holder again. */
static void test_falls_back(void **state)
{
	void *context = zmq_ctx_new();
	struct side holder = {.transport = unit_listen(context, "tcp://127.0.0.1:0")};
	struct dlsi_dataplane *reader = unit_plane(context, NULL, 0);
	uint8_t *bytes = unit_bytes(1, DLSI_BLOB_CHUNK_BYTES);
	struct dlsi_blob blob = unit_blob(bytes, DLSI_BLOB_CHUNK_BYTES, DLSI_PROOF_HASH);
	struct dlsi_fetch fetch = unit_fetch_of(dlsi_transport_endpoint(holder.transport), &token, &blob);
	struct dlsi_record asked, lent = {.kind = DLSI_LENT};
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), bytes, DLSI_BLOB_CHUNK_BYTES);
	struct unit_result result;

	(void)state;
	fetch.same_host = true;
	unit_fetch(reader, &fetch, &result);
	asked = next_record(&holder);
	assert_int_equal(asked.open.direct, 1);
	lent.lent = (struct dlsi_lent){.fetch = asked.open.fetch,
		.total = blob.length,
		.process = (uint64_t)getpid(),
		.address = (uint64_t)(uintptr_t)bytes,
		.witness_address = (uint64_t)(uintptr_t)&blob,
		.witness = {{1}}};
	say(&holder, lent, NULL);
	assert_int_equal(next_record(&holder).kind, DLSI_CLOSE);
	asked = next_record(&holder);
	assert_int_equal(asked.kind, DLSI_READ);
	say(&holder,
		(struct dlsi_record){
			.kind = DLSI_DATA, .data = {.fetch = asked.read.fetch, .total = blob.length, .frames = 1}},
		frame);
	assert_int_equal(unit_wait(&result), 0);
	assert_memory_equal(dlsi_frame_data(result.frame), bytes, DLSI_BLOB_CHUNK_BYTES);
	unit_result_fini(&result);
	unit_fetch(reader, &fetch, &result);
	asked = next_record(&holder);
	assert_int_equal(asked.kind, DLSI_OPEN);
	assert_int_equal(asked.open.direct, 0);
	lent.lent.fetch = 12345; /* nobody wants this one any more */
	say(&holder, lent, NULL);
	asked = next_record(&holder);
	assert_int_equal(asked.kind, DLSI_CLOSE);
	assert_int_equal(asked.close.fetch, 12345);
	dlsi_frame_unref(frame);
	dlsi_dataplane_destroy(reader); /* which ends the fetch */
	unit_wait(&result);
	unit_result_fini(&result);
	dlsi_transport_destroy(holder.transport, 0);
	zmq_ctx_term(context);
	test_free(bytes);
}

UNIT_MAIN(test_reads_what_it_can_prove, test_is_kept_until_it_is_given_back, test_ends_with_the_connection,
	test_only_when_asked_and_not_too_much, test_falls_back)
