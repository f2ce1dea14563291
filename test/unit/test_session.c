/* The client's side against a scripted master: jobs presented until they end, each item once, the window, offers that
 * are fetched, commands that are answered. */
#include "base/limits.h"
#include "proto/bytes.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <string.h>

static const char spec[] = "{\"handler\":\"work\"}";

static struct dlsi_session_counts counts(const struct unit_machine *session)
{
	return dlsi_session_counts(session->core);
}

static struct dlsi_event submission(struct unit_machine *session, uint8_t job, uint64_t count)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_SUBMIT, .job = unit_id(job)};

	event.submit.token = unit_id(job);
	event.submit.spec = (struct dlsi_bytes){(const uint8_t *)spec, sizeof spec - 1};
	event.submit.count = count;
	event.submit.manifest = unit_machine_give(session, 50);
	event.submit.window_items = 40;
	event.submit.window_bytes = 1000;
	return event;
}

static void submit(struct unit_machine *session, uint8_t job, uint64_t count)
{
	unit_machine_step(session, submission(session, job, count));
}

static void cancel(struct unit_machine *session, uint8_t job)
{
	unit_machine_step(session, (struct dlsi_event){.kind = DLSI_EVENT_CANCEL, .job = unit_id(job)});
}

static void accept(struct unit_machine *session, uint8_t job)
{
	struct dlsi_record record = {.kind = DLSI_ACCEPTED};

	record.accepted.job = record.accepted.token = unit_id(job);
	unit_machine_say(session, 0, record);
}

static void end(struct unit_machine *session, uint8_t job, uint8_t state)
{
	struct dlsi_record record = {.kind = DLSI_END};

	record.end.job = unit_id(job);
	record.end.state = state;
	unit_machine_say(session, 0, record);
}

static struct dlsi_record result(uint8_t job, uint64_t attempt, uint64_t first, uint64_t end, uint64_t offered)
{
	const struct dlsi_assign assign = {unit_id(job), attempt, first, end, 0};

	return unit_result(&assign, offered ? offered : 100, offered != 0);
}

static void fetched(struct unit_machine *session, uint64_t attempt, int code)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_FETCHED, .attempt = attempt};

	event.fetched.code = code;
	if (!code)
		event.fetched.payload = unit_machine_give(session, 5000);
	unit_machine_step(session, event);
}

static void consume(struct unit_machine *session, uint64_t next, uint64_t bytes)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_CONSUMED, .job = unit_id(1)};

	event.consumed.next = next;
	event.consumed.bytes = bytes;
	unit_machine_step(session, event);
}

/* Answers to an earlier job under this key, which has other inputs. */
static void answer_another(struct unit_machine *session, uint8_t job)
{
	struct dlsi_record accepted = {.kind = DLSI_ACCEPTED}, refused = {.kind = DLSI_REFUSED};

	accepted.accepted.job = refused.refused.job = unit_id(job);
	accepted.accepted.token = refused.refused.token = unit_id((uint8_t)(job + 100));
	refused.refused.code = DLS_EINVAL;
	unit_machine_say(session, 0, accepted);
	assert_null(unit_machine_notice(session, DLSI_NOTICE_ACCEPTED));
	unit_machine_say(session, 0, refused);
	assert_null(unit_machine_notice(session, DLSI_NOTICE_ENDED));
}

/* A session that is connected and has an accepted job 1 of 100 items. */
static void begin(struct unit_machine *session)
{
	unit_session_init(session, unit_alloc());
	unit_machine_connect(session);
	unit_machine_welcome(session);
	submit(session, 1, 100);
	accept(session, 1);
}

static const struct dlsi_effect *ended(const struct unit_machine *session)
{
	return unit_machine_notice(session, DLSI_NOTICE_ENDED);
}

static void test_job_from_submission_to_end(void **state)
{
	struct unit_machine session;
	struct dlsi_record record;

	(void)state;
	unit_session_init(&session, unit_alloc());
	submit(&session, 1, 1);
	unit_machine_connect(&session);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 0);
	unit_machine_welcome(&session);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SPEC), 1);
	assert_true(unit_machine_says(&session, 0, DLSI_SUBMIT, 0, &record));
	assert_int_equal(record.submit.count, 1);
	assert_int_equal(record.submit.window_end, 40);
	assert_int_equal(record.submit.window_bytes, 1000);
	assert_int_equal(record.submit.frames, 1);
	accept(&session, 1);
	assert_non_null(unit_machine_notice(&session, DLSI_NOTICE_ACCEPTED));
	unit_machine_say(&session, 0, result(1, 7, 0, 1, 0));
	assert_non_null(unit_machine_does(&session, DLSI_EFFECT_DELIVER, 0));
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(dlsi_numbers_at(&record.ack.taken, 0), 7);
	assert_int_equal(record.ack.window_bytes, 900);
	assert_int_equal(ended(&session)->notify.state, DLSI_JOB_DONE);
	assert_int_equal(unit_machine_held(&session), 0);
	assert_int_equal(counts(&session).jobs, 1); /* until the master says so too */
	end(&session, 1, DLSI_JOB_DONE);
	assert_null(ended(&session));
	assert_int_equal(counts(&session).jobs, 0);
	assert_int_equal(counts(&session).refused + counts(&session).refused_transitions, 0);
	unit_machine_fini(&session);
}

/* Pages that overlap give each item once, and are all confirmed. */
static void test_each_item_once(void **state)
{
	static const uint64_t pages[][2] = {{2, 4}, {6, 8}, {0, 10}, {3, 7}};
	static const uint64_t news[][2] = {{2, 4}, {6, 8}, {0, 2}, {4, 6}, {8, 10}};
	struct unit_machine session;
	const struct dlsi_effect *effect;
	struct dlsi_record record;
	unsigned seen = 0;

	(void)state;
	begin(&session);
	for (unsigned i = 0; i < 4; i++) {
		unit_machine_say(&session, 0, result(1, i, pages[i][0], pages[i][1], 0));
		for (unsigned n = 0; (effect = unit_machine_does(&session, DLSI_EFFECT_DELIVER, n)); n++, seen++) {
			assert_int_equal(effect->first, news[seen][0]);
			assert_int_equal(effect->end, news[seen][1]);
			assert_int_equal(effect->deliver.page_first, pages[i][0]);
			assert_int_equal(effect->deliver.page_end, pages[i][1]);
		}
		assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
		assert_int_equal(dlsi_numbers_at(&record.ack.taken, 0), i);
	}
	assert_int_equal(seen, 5);
	assert_int_equal(unit_machine_held(&session), 1);
	unit_machine_fini(&session);
}

static void test_results_that_make_no_sense(void **state)
{
	struct unit_machine session;

	(void)state;
	begin(&session);
	unit_machine_say(&session, 0, result(1, 1, 5, 5, 0));
	unit_machine_say(&session, 0, result(1, 2, 99, 101, 0));
	unit_machine_say(&session, 0, result(1, 3, 0, UINT64_MAX, 0));
	unit_machine_say(&session, 0, result(2, 4, 0, 1, 0));
	assert_int_equal(counts(&session).refused, 4);
	assert_int_equal(unit_machine_held(&session), 1);
	unit_machine_fini(&session);
}

/* The window opens when a quarter of it has been taken, in items or in bytes; one that was full at once. */
static void test_window_opens_by_quarters(void **state)
{
	static const struct {
		uint64_t next, waiting, told_end, told_bytes; /* told: 0, 0 for nothing */
	} steps[] = {{2, 800, 42, 200}, {3, 700, 0, 0}, {5, 540, 45, 460}, {14, 540, 0, 0}, {15, 540, 55, 460}};
	struct unit_machine session;
	struct dlsi_record record;

	(void)state;
	begin(&session);
	for (uint64_t item = 0; item < 10; item++)
		unit_machine_say(&session, 0, result(1, item, item, item + 1, 0));
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(record.ack.window_bytes, 0);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		consume(&session, steps[i].next, steps[i].waiting);
		assert_int_equal(unit_machine_says(&session, 0, DLSI_ACK, 0, &record), steps[i].told_end != 0);
		if (!steps[i].told_end)
			continue;
		assert_int_equal(record.ack.window_end, steps[i].told_end);
		assert_int_equal(record.ack.window_bytes, steps[i].told_bytes);
	}
	unit_machine_fini(&session);
}

/* Offers are fetched in the order of their items as long as the window is not full; the one that the program waits for
 * is fetched in any case. */
static void test_offers_wait_for_room(void **state)
{
	struct unit_machine session;

	(void)state;
	begin(&session);
	unit_machine_say(&session, 0, result(1, 1, 4, 5, 100000)); /* overfills it */
	assert_int_equal(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0)->attempt, 1);
	unit_machine_say(&session, 0, result(1, 2, 6, 7, 100000));
	assert_null(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0));
	unit_machine_say(&session, 0, result(1, 3, 5, 6, 100000));
	assert_null(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0));
	unit_machine_say(&session, 0, result(1, 4, 0, 1, 100000));
	assert_int_equal(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0)->attempt, 4);
	fetched(&session, 1, 0);
	fetched(&session, 4, DLS_ELOST);
	assert_null(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0));
	consume(&session, 0, 0);
	assert_int_equal(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0)->attempt, 3);
	assert_null(unit_machine_does(&session, DLSI_EFFECT_FETCH, 1));
	cancel(&session, 1);
	end(&session, 1, DLSI_JOB_CANCELLED);
	assert_int_equal(counts(&session).fetches, 1);
	fetched(&session, 3, 0);
	assert_int_equal(counts(&session).fetches + unit_machine_held(&session), 0);
	unit_machine_fini(&session);
}

static void test_offer_is_fetched(void **state)
{
	struct unit_machine session;
	struct dlsi_record record;

	(void)state;
	begin(&session);
	for (int time = 0; time < 2; time++) { /* the second when the master presents it again */
		unit_machine_say(&session, 0, result(1, 7, 0, 2, 100000));
		assert_int_equal(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0) != NULL, time == 0);
		assert_int_equal(unit_machine_count(&session, 0, DLSI_ACK), 0);
	}
	fetched(&session, 7, 0);
	assert_int_equal(unit_machine_does(&session, DLSI_EFFECT_DELIVER, 0)->end, 2);
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(dlsi_numbers_at(&record.ack.taken, 0), 7);
	unit_machine_say(&session, 0, result(1, 8, 2, 4, 100000));
	fetched(&session, 8, DLS_ELOST);
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(record.ack.taken.count, 0);
	assert_int_equal(dlsi_numbers_at(&record.ack.lost, 0), 8);
	assert_int_equal(counts(&session).fetches, 0);
	unit_machine_fini(&session);
}

/* No worker makes such a page: it is not fetched, and the items are asked for again. */
static void test_offer_beyond_all_measure(void **state)
{
	struct unit_machine session;
	struct dlsi_record record;

	(void)state;
	begin(&session);
	unit_machine_say(&session, 0, result(1, 7, 0, 2, DLSI_RESULT_PAGE_BYTES + 1));
	assert_null(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0));
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(dlsi_numbers_at(&record.ack.lost, 0), 7);
	unit_machine_fini(&session);
}

/* An offer whose items have come otherwise is confirmed and not fetched. */
static void test_offers_that_are_not_needed_any_more(void **state)
{
	struct unit_machine session;
	struct dlsi_record record;

	(void)state;
	begin(&session);
	unit_machine_say(&session, 0, result(1, 1, 0, 2, 100000));
	unit_machine_say(&session, 0, result(1, 2, 98, 100, 100000));
	unit_machine_say(&session, 0, result(1, 3, 96, 98, 100000));
	unit_machine_say(&session, 0, result(1, 4, 96, 98, 0));
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(record.ack.taken.count, 2);
	unit_machine_say(&session, 0, result(1, 5, 2, 100, 0));
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record));
	assert_int_equal(record.ack.taken.count, 2);
	fetched(&session, 1, 0);
	assert_null(unit_machine_does(&session, DLSI_EFFECT_FETCH, 0));
	assert_int_equal(ended(&session)->notify.state, DLSI_JOB_DONE);
	assert_int_equal(counts(&session).fetches, 0);
	unit_machine_fini(&session);
}

/* Thousands of fetches that fail in one turn: every ACK keeps to the limits of a record. */
static void test_many_lost_offers(void **state)
{
	enum { OFFERS = 3 * DLSI_MESSAGE_RECORDS };
	struct unit_machine session;
	struct dlsi_record record;
	uint64_t lost = 0;

	(void)state;
	begin(&session);
	for (uint64_t attempt = 0; attempt < OFFERS; attempt++)
		unit_machine_say(&session, 0, result(1, attempt, 0, 1, 100000));
	dlsi_effects_clear(&session.effects);
	for (uint64_t attempt = 0; attempt < OFFERS; attempt++) {
		struct dlsi_event event = {.kind = DLSI_EVENT_FETCHED, .attempt = attempt};

		event.fetched.code = DLS_ELOST;
		session.step(session.core, session.now_ns, &event, &session.effects);
	}
	session.step(session.core, session.now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_TURN}, &session.effects);
	for (unsigned n = 0; unit_machine_says(&session, 0, DLSI_ACK, n, &record); n++)
		lost += record.ack.lost.count;
	assert_int_equal(lost, OFFERS);
	unit_machine_fini(&session);
}

/* What is on its way for a job that was cancelled is not for the next one under its key. */
static void test_key_that_is_used_again(void **state)
{
	struct unit_machine session;

	(void)state;
	begin(&session);
	unit_machine_say(&session, 0, result(1, 7, 0, 2, 100000));
	cancel(&session, 1);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_CANCEL), 1);
	submit(&session, 1, 100);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 1);
	unit_machine_say(&session, 0, result(1, 8, 2, 4, 0));
	assert_null(unit_machine_does(&session, DLSI_EFFECT_DELIVER, 0));
	end(&session, 1, DLSI_JOB_CANCELLED);
	assert_null(ended(&session));
	answer_another(&session, 1);
	accept(&session, 1);
	fetched(&session, 7, 0);
	assert_null(unit_machine_does(&session, DLSI_EFFECT_DELIVER, 0));
	assert_int_equal(unit_machine_count(&session, 0, DLSI_ACK), 0);
	unit_machine_say(&session, 0, result(1, 9, 0, 2, 0));
	assert_non_null(unit_machine_does(&session, DLSI_EFFECT_DELIVER, 0));
	submit(&session, 1, 3); /* one that lives */
	assert_int_equal(counts(&session).refused, 1);
	assert_int_equal(unit_machine_held(&session), 1);
	unit_machine_fini(&session);
}

/* A cancelled job is over for the program at once, and is kept until a master has heard of it. */
static void test_cancelled_while_there_is_no_connection(void **state)
{
	(void)state;
	for (int moved = 0; moved < 2; moved++) {
		struct unit_machine session;
		struct dlsi_event lost = {.kind = DLSI_EVENT_LOST};

		begin(&session);
		lost.peer.generation = session.generations[0];
		unit_machine_step(&session, lost);
		cancel(&session, 1);
		assert_int_equal(ended(&session)->notify.state, DLSI_JOB_CANCELLED);
		assert_int_equal(counts(&session).jobs, 1);
		unit_machine_connect(&session);
		session.cluster = unit_id(moved ? 0xc2 : 0xc1);
		unit_machine_welcome(&session);
		assert_int_equal(unit_machine_count(&session, 0, DLSI_CANCEL), !moved);
		assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 0);
		assert_int_equal(counts(&session).jobs, !moved);
		end(&session, 1, DLSI_JOB_CANCELLED);
		assert_int_equal(counts(&session).jobs, 0);
		unit_machine_fini(&session);
	}
}

static void test_cancelled_before_any_master_knew(void **state)
{
	struct unit_machine session;

	(void)state;
	unit_session_init(&session, unit_alloc());
	submit(&session, 1, 1);
	cancel(&session, 1);
	assert_int_equal(counts(&session).jobs + unit_machine_held(&session), 0);
	unit_machine_fini(&session);
}

/* After a lost connection: the specification, the job, and what was received of it; results are confirmed by that. */
static void test_comes_back(void **state)
{
	struct unit_machine session;
	struct dlsi_record record;

	(void)state;
	begin(&session);
	submit(&session, 2, 10); /* shares the specification */
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SPEC), 0);
	unit_machine_say(&session, 0, result(1, 1, 3, 5, 0));
	unit_machine_say(&session, 0, result(1, 2, 9, 10, 100000));
	consume(&session, 5, 100);
	unit_machine_connect(&session);
	fetched(&session, 2, DLS_ELOST);
	unit_machine_welcome(&session);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SPEC), 1);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 2);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_ACK), 0);
	assert_true(unit_machine_says(&session, 0, DLSI_SUBMIT, 0, &record));
	assert_int_equal(record.submit.received.count, 2);
	assert_int_equal(dlsi_numbers_at(&record.submit.received, 0), 3);
	assert_int_equal(dlsi_numbers_at(&record.submit.received, 1), 5);
	assert_int_equal(record.submit.window_end, 45);
	assert_int_equal(record.submit.window_bytes, 900);
	consume(&session, 40, 0);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_ACK), 0);
	accept(&session, 1);
	assert_true(unit_machine_says(&session, 0, DLSI_ACK, 0, &record)); /* the window moved meanwhile */
	assert_int_equal(record.ack.window_end, 80);
	assert_int_equal(record.ack.taken.count + record.ack.lost.count, 0);
	unit_machine_fini(&session);
}

static void refuse(struct unit_machine *session, uint8_t job, int code, uint32_t retry_after_ms)
{
	struct dlsi_record record = {.kind = DLSI_REFUSED};

	record.refused.job = record.refused.token = unit_id(job);
	record.refused.code = code;
	record.refused.retry_after_ms = retry_after_ms;
	record.refused.sentence = dlsi_text_of("no");
	unit_machine_say(session, 0, record);
}

static void test_refused_for_now(void **state)
{
	struct unit_machine session;

	(void)state;
	unit_session_init(&session, unit_alloc());
	unit_machine_connect(&session);
	unit_machine_welcome(&session);
	submit(&session, 1, 10);
	refuse(&session, 1, DLS_EBUSY, 50);
	assert_null(ended(&session));
	assert_int_equal(unit_machine_notice(&session, DLSI_NOTICE_DEFERRED)->notify.code, DLS_EBUSY);
	unit_machine_wait(&session, 49 * UNIT_MS);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 0);
	unit_machine_wait(&session, 2 * UNIT_MS);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 1);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SPEC), 1); /* it may be what found no room */
	refuse(&session, 1, DLS_EBUSY, 50);
	cancel(&session, 1);
	unit_machine_wait(&session, 90 * UNIT_MS);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_SUBMIT), 0);
	unit_machine_fini(&session);
}

static void test_refused(void **state)
{
	struct unit_machine session;

	(void)state;
	begin(&session);
	refuse(&session, 1, DLS_EINVAL, 0);
	assert_int_equal(ended(&session)->notify.state, DLSI_JOB_FAILED);
	assert_int_equal(ended(&session)->notify.code, DLS_EINVAL);
	assert_int_equal(counts(&session).jobs + unit_machine_held(&session), 0);
	unit_machine_fini(&session);
}

/* Once no master takes this client, jobs end and none begins. */
static void test_rejected(void **state)
{
	struct unit_machine session;

	(void)state;
	begin(&session);
	refuse(&session, 0, DLS_EVERSION, 0);
	assert_int_equal(unit_machine_notice(&session, DLSI_NOTICE_REJECTED)->notify.code, DLS_EVERSION);
	assert_int_equal(ended(&session)->notify.code, DLS_EVERSION);
	submit(&session, 2, 10);
	assert_int_equal(ended(&session)->notify.code, DLS_EVERSION);
	assert_int_equal(counts(&session).jobs + unit_machine_held(&session), 0);
	unit_machine_fini(&session);
}

static void test_progress(void **state)
{
	struct dlsi_record record = {.kind = DLSI_PROGRESS};
	struct unit_machine session;
	const struct dlsi_effect *effect;

	(void)state;
	begin(&session);
	record.progress = (struct dlsi_progress){unit_id(1), 3, 4, 5};
	unit_machine_say(&session, 0, record);
	effect = unit_machine_notice(&session, DLSI_NOTICE_PROGRESS);
	assert_int_equal(effect->notify.done, 3);
	assert_int_equal(effect->notify.running, 4);
	assert_int_equal(effect->notify.workers, 5);
	unit_machine_fini(&session);
}

static void ask(struct unit_machine *session, uint64_t number, uint32_t length)
{
	static uint8_t json[DLSI_COMMAND_BYTES + 1];
	struct dlsi_event event = {.kind = DLSI_EVENT_COMMAND};

	event.command.number = number;
	event.command.json = (struct dlsi_bytes){json, length};
	unit_machine_step(session, event);
}

static void answer(struct unit_machine *session, uint64_t number)
{
	struct dlsi_record record = {.kind = DLSI_REPLY};

	record.reply.number = number;
	unit_machine_say(session, 0, record);
}

/* Every command is answered once: by the master, or because it was not or will not be. */
static void test_commands(void **state)
{
	struct dlsi_event lost = {.kind = DLSI_EVENT_LOST};
	struct unit_machine session;

	(void)state;
	begin(&session);
	for (uint64_t number = 1; number <= 3; number++)
		ask(&session, number, DLSI_COMMAND_BYTES);
	answer(&session, 2);
	assert_int_equal(unit_machine_notice(&session, DLSI_NOTICE_REPLY)->notify.number, 2);
	answer(&session, 2);
	assert_null(unit_machine_notice(&session, DLSI_NOTICE_REPLY));
	assert_int_equal(counts(&session).refused, 1);
	ask(&session, 4, DLSI_COMMAND_BYTES + 1);
	assert_int_equal(unit_machine_notice(&session, DLSI_NOTICE_REPLY)->notify.code, DLS_ELIMIT);
	lost.peer.generation = session.generations[0];
	unit_machine_step(&session, lost);
	assert_int_equal(unit_machine_notice(&session, DLSI_NOTICE_REPLY)->notify.code, DLS_EUNREACHABLE);
	assert_int_equal(counts(&session).commands, 0);
	ask(&session, 5, 2);
	assert_int_equal(unit_machine_notice(&session, DLSI_NOTICE_REPLY)->notify.number, 5);
	unit_machine_connect(&session);
	unit_machine_welcome(&session);
	assert_int_equal(unit_machine_count(&session, 0, DLSI_COMMAND), 0);
	unit_machine_fini(&session);
}

/* A number is given to another specification once no job uses it; too long ones end their job. */
static void test_specifications(void **state)
{
	static uint8_t large[DLSI_SPEC_BYTES + 1];
	struct unit_machine session;
	struct dlsi_record record;
	struct dlsi_event event;

	(void)state;
	begin(&session);
	for (uint8_t i = 0; i < 200; i++) {
		event = submission(&session, 2, 1);
		event.submit.spec = (struct dlsi_bytes){&i, 1};
		unit_machine_step(&session, event);
		assert_true(unit_machine_says(&session, 0, DLSI_SPEC, 0, &record));
		assert_int_equal(record.spec.number, 1);
		assert_int_equal(record.spec.json.data[0], i);
		refuse(&session, 2, DLS_EINVAL, 0);
	}
	event = submission(&session, 2, 1);
	event.submit.spec = (struct dlsi_bytes){large, sizeof large};
	unit_machine_step(&session, event);
	assert_int_equal(ended(&session)->notify.code, DLS_ELIMIT);
	unit_machine_fini(&session);
}

UNIT_MAIN(test_job_from_submission_to_end, test_each_item_once, test_results_that_make_no_sense,
	test_window_opens_by_quarters, test_offers_wait_for_room, test_offer_is_fetched, test_offer_beyond_all_measure,
	test_offers_that_are_not_needed_any_more, test_many_lost_offers, test_key_that_is_used_again,
	test_cancelled_while_there_is_no_connection, test_cancelled_before_any_master_knew, test_comes_back,
	test_refused_for_now, test_refused, test_rejected, test_progress, test_commands, test_specifications)
