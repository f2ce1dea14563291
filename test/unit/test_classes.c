/* What jobs ask of workers: labels, and resources of which no more is ever given out than there is. */
#include "base/limits.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKER, OTHER }; /* slots of peers */

struct offer {
	unsigned devices;
	uint16_t credits;
	const char *resource;
	uint64_t amount; /* thousandths */
	const char *label;
};

static void register_worker(struct unit_machine *master, uint32_t slot, const char *name, struct offer offer)
{
	struct dlsi_record records[16] = {{.kind = DLSI_REGISTER}, {.kind = DLSI_HANDLER}};
	unsigned count = 2;

	records[0].reg = (struct dlsi_register){.role = DLSI_ROLE_WORKER,
		.version_low = 1,
		.version_high = 1,
		.incarnation = slot,
		.name = dlsi_text_of(name),
		.host = dlsi_text_of("host"),
		.data_endpoint = dlsi_text_of("tcp://worker:1")};
	records[1].handler.name = dlsi_text_of("work");
	for (unsigned i = 0; i < offer.devices; i++, count++) {
		records[count].kind = DLSI_DEVICE;
		records[count].device =
			(struct dlsi_device_offer){(uint16_t)i, offer.credits, 4, 1 << 30, dlsi_text_of("cpu")};
	}
	if (offer.resource) {
		records[count].kind = DLSI_RESOURCE;
		records[count++].resource = (struct dlsi_resource_offer){dlsi_text_of(offer.resource), offer.amount};
	}
	if (offer.label) {
		records[count].kind = DLSI_LABEL;
		records[count++].label.name = dlsi_text_of(offer.label);
	}
	unit_machine_tell(master, slot, records, count);
}

/* Submits 20 tasks of one item each. */
static void submit(struct unit_machine *master, uint8_t job, const char *spec)
{
	unit_machine_say(master, CLIENT, unit_spec(job, spec));
	unit_machine_say(master, CLIENT, unit_submit(job, job, 20));
}

static void begin(struct unit_machine *master)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_client(master, CLIENT, 100);
}

static unsigned assigned(const struct unit_machine *master, uint32_t slot)
{
	return unit_machine_count(master, slot, DLSI_ASSIGN);
}

static void test_labels_choose_workers(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	register_worker(&master, WORKER, "one", (struct offer){1, 64, NULL, 0, "zone=a"});
	register_worker(&master, OTHER, "two", (struct offer){1, 64, NULL, 0, "zone=b"});
	submit(&master, 1, "{\"handler\":\"work\",\"task_items\":1,\"labels\":[\"zone=b\"]}");
	assert_int_equal(assigned(&master, WORKER), 0);
	assert_true(assigned(&master, OTHER) > 0);
	submit(&master, 2, "{\"handler\":\"work\",\"task_items\":1,\"labels\":[\"zone=a\",\"zone=b\"]}");
	assert_int_equal(unit_machine_count(&master, CLIENT, DLSI_ACCEPTED), 1); /* one with both may come */
	assert_int_equal(assigned(&master, WORKER) + assigned(&master, OTHER), 0);
	unit_machine_fini(&master);
}

/* Of equally free workers the one with more of the labels is first; nobody waits for it while another is free. */
static void test_preferred_labels_choose_among_equals(void **state)
{
	struct unit_machine master;
	struct dlsi_assign first;

	(void)state;
	begin(&master);
	register_worker(&master, WORKER, "one", (struct offer){1, 1, NULL, 0, "zone=a"});
	register_worker(&master, OTHER, "two", (struct offer){1, 1, NULL, 0, "zone=b"});
	unit_machine_say(&master, CLIENT,
		unit_spec(1, "{\"handler\":\"work\",\"task_items\":1,\"preferred_labels\":[\"zone=b\",\"zone=c\"]}"));
	unit_machine_say(&master, CLIENT, unit_submit(1, 1, 1));
	assert_int_equal(assigned(&master, WORKER), 0);
	assert_int_equal(assigned(&master, OTHER), 1);
	first = unit_assigned(&master, OTHER, 0);
	unit_machine_say(&master, CLIENT, unit_submit(2, 1, 20));
	assert_int_equal(assigned(&master, WORKER), 1);
	assert_int_equal(assigned(&master, OTHER), 0);
	unit_machine_say(&master, OTHER, unit_result(&first, 100, false));
	assert_int_equal(assigned(&master, OTHER), 1);
	unit_machine_fini(&master);
}

/* Among many that are free, and not only of those that have been free for longest. */
static void test_the_preferred_one_of_many(void **state)
{
	enum { WORKERS = 100 };
	struct unit_machine master;
	char name[8];

	(void)state;
	begin(&master);
	for (uint32_t i = 1; i <= WORKERS; i++) {
		snprintf(name, sizeof name, "w%u", i);
		register_worker(&master, i, name, (struct offer){1, 8, NULL, 0, i == WORKERS - 1 ? "fast" : "slow"});
	}
	unit_machine_say(&master, CLIENT,
		unit_spec(1, "{\"handler\":\"work\",\"task_items\":1,\"preferred_labels\":[\"fast\"]}"));
	unit_machine_say(&master, CLIENT, unit_submit(1, 1, WORKERS - 1));
	assert_int_equal(assigned(&master, WORKERS - 1), 1);
	for (uint32_t i = 1; i <= WORKERS; i++)
		assert_true(assigned(&master, i) <= 1);
	unit_machine_fini(&master);
}

/* Three devices share two of something, and a task takes one: two devices run such tasks, the third none; when all of
 * one device's are over, the third gets some. */
static void test_devices_share_what_their_worker_has(void **state)
{
	struct unit_machine master;
	struct dlsi_assign first;
	unsigned per_device[3] = {0};

	(void)state;
	begin(&master);
	register_worker(&master, WORKER, "one", (struct offer){3, 1, "gpu", 2000, NULL});
	submit(&master, 1, "{\"handler\":\"work\",\"task_items\":1,\"resources\":{\"gpu\":1}}");
	for (unsigned i = 0; i < assigned(&master, WORKER); i++)
		per_device[unit_assigned(&master, WORKER, i).device]++;
	assert_int_equal(assigned(&master, WORKER), 2);
	assert_int_equal(per_device[0] + per_device[1], 2);
	first = unit_assigned(&master, WORKER, 0);
	unit_machine_say(&master, WORKER, unit_result(&first, 100, false));
	assert_int_equal(assigned(&master, WORKER), 1);
	unit_machine_fini(&master);
}

/* A device runs one task at a time: more of the same kind may wait there at no cost to others. */
static void test_what_waits_at_a_device_takes_nothing(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	register_worker(&master, WORKER, "one", (struct offer){1, 8, "gpu", 1000, NULL});
	submit(&master, 1, "{\"handler\":\"work\",\"task_items\":1,\"resources\":{\"gpu\":1}}");
	assert_int_equal(assigned(&master, WORKER), 2);
	unit_machine_fini(&master);
}

static void test_half_a_core_is_an_amount(void **state)
{
	struct unit_machine master;

	(void)state;
	begin(&master);
	register_worker(&master, WORKER, "one", (struct offer){3, 1, "cores", 1500, NULL});
	submit(&master, 1, "{\"handler\":\"work\",\"task_items\":1,\"resources\":{\"cores\":0.5}}");
	assert_int_equal(assigned(&master, WORKER), 3);
	submit(&master, 2, "{\"handler\":\"work\",\"task_items\":1,\"resources\":{\"cores\":1.001}}");
	assert_int_equal(assigned(&master, WORKER), 0);
	unit_machine_fini(&master);
}

static void test_what_fits_nowhere_is_said_at_once(void **state)
{
	static const struct {
		const char *spec, *says;
		int code;
	} cases[] = {
		{"{\"handler\":\"work\",\"resources\":{\"gpu\":3}}", "3 gpu", DLS_ELIMIT},
		{"{\"handler\":\"work\",\"resources\":{\"tpu\":1}}", "tpu", DLS_ELIMIT},
		{"{\"handler\":\"work\",\"resources\":{\"gpu\":0}}", "gpu", DLS_EINVAL},
		{"{\"handler\":\"work\",\"resources\":{\"gpu\":-1}}", "gpu", DLS_EINVAL},
		{"{\"handler\":\"work\",\"resources\":{\"gpu\":\"two\"}}", "gpu", DLS_EINVAL},
		{"{\"handler\":\"work\",\"resources\":{\"gpu\":1e300}}", "gpu", DLS_EINVAL},
		{"{\"handler\":\"work\",\"resources\":{\"devices\":1}}", "devices", DLS_EINVAL},
		{"{\"handler\":\"work\",\"labels\":[1]}", "labels", DLS_EINVAL},
		{"{\"handler\":\"work\",\"labels\":{}}", "labels", DLS_EINVAL},
		{"{\"handler\":\"work\",\"preferred_labels\":[\"\"]}", "preferred_labels", DLS_EINVAL},
	};
	struct unit_machine master;
	struct dlsi_record record;

	(void)state;
	begin(&master);
	register_worker(&master, WORKER, "one", (struct offer){1, 64, "gpu", 2000, NULL});
	for (uint8_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		submit(&master, i, cases[i].spec);
		assert_true(unit_machine_says(&master, CLIENT, DLSI_REFUSED, 0, &record));
		assert_int_equal(record.refused.code, cases[i].code);
		assert_int_equal(record.refused.retry_after_ms > 0, i < 2); /* a worker that has it may come */
		assert_non_null(memmem(record.refused.sentence.data, record.refused.sentence.length, cases[i].says,
			strlen(cases[i].says)));
	}
	assert_int_equal(dlsi_master_counts(master.core).jobs, 0);
	unit_machine_fini(&master);
}

/* Kinds of resources come and go with those who name them; of one too many a job is refused, and others go on. */
static void test_kinds_of_resources_are_bounded(void **state)
{
	struct unit_machine master;
	char spec[128];

	(void)state;
	begin(&master);
	for (unsigned round = 0; round < 3; round++) {
		for (uint8_t i = 0; i < DLSI_RESOURCE_KINDS; i++) {
			snprintf(spec, sizeof spec, "{\"handler\":\"work\",\"resources\":{\"kind%u.%u\":1}}", round, i);
			unit_machine_say(&master, CLIENT, unit_spec(i, spec));
			unit_machine_say(&master, CLIENT, unit_submit(i, i, 1));
			assert_int_equal(unit_refusal(&master, CLIENT),
				i < DLSI_RESOURCE_KINDS - DLSI_RESOURCES_KNOWN ? 0 : DLS_ELIMIT);
		}
		for (uint8_t i = 0; i < DLSI_RESOURCE_KINDS; i++) {
			struct dlsi_record cancel = {.kind = DLSI_CANCEL, .cancel.job = unit_id(i)};

			unit_machine_say(&master, CLIENT, cancel);
			unit_machine_say(&master, CLIENT, unit_spec(i, "{\"handler\":\"work\"}"));
		}
	}
	unit_machine_fini(&master);
}

static void test_workers_that_offer_what_cannot_be(void **state)
{
	static const struct offer offers[] = {
		{1, 1, "gpu", 0, NULL}, {1, 1, "devices", 1000, NULL}, {1, 1, "", 1000, NULL}};
	struct unit_machine master;

	(void)state;
	begin(&master);
	for (unsigned i = 0; i < sizeof offers / sizeof *offers; i++) {
		register_worker(&master, WORKER, "one", offers[i]);
		assert_int_equal(unit_refusal(&master, WORKER), DLS_EINVAL);
	}
	assert_int_equal(dlsi_master_counts(master.core).workers, 0);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_labels_choose_workers, test_preferred_labels_choose_among_equals, test_the_preferred_one_of_many,
	test_devices_share_what_their_worker_has, test_what_waits_at_a_device_takes_nothing,
	test_half_a_core_is_an_amount, test_what_fits_nowhere_is_said_at_once, test_kinds_of_resources_are_bounded,
	test_workers_that_offer_what_cannot_be)
