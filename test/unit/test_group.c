/* The log of a group of one: what was proposed is committed in its order and there again when the folder is opened. */
#include "base/random.h"
#include "ha/group.h"
#include "test/unit/unit.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 3000 };

static char folder[128];

struct owner {
	struct dlsi_id cluster;
	uint64_t term, replayed, committed;
	atomic_uint wakes;
};

static int begin(void *arg, const struct dlsi_id *cluster, uint64_t term, struct dls_error *err)
{
	struct owner *owner = arg;

	(void)err;
	owner->cluster = *cluster;
	owner->term = term;
	return 0;
}

static int replay(void *arg, const struct dlsi_group_record *record, struct dls_error *err)
{
	struct owner *owner = arg;
	uint64_t number;

	(void)err;
	assert_int_equal(record->length, sizeof number);
	memcpy(&number, record->bytes, sizeof number);
	assert_int_equal(number, owner->replayed++);
	assert_int_equal(record->payload_length, number % 50);
	for (size_t i = 0; i < record->payload_length; i++)
		assert_int_equal(record->payload[i], (uint8_t)number);
	return 0;
}

static void wake(void *arg)
{
	struct owner *owner = arg;

	atomic_fetch_add(&owner->wakes, 1);
}

static void committed(void *arg, uint64_t count)
{
	struct owner *owner = arg;

	owner->committed += count;
}

static struct dlsi_group_config config_of(struct owner *owner)
{
	return (struct dlsi_group_config){
		.folder = folder,
		.log_bytes = 1 << 20,
		.begin = begin,
		.replay = replay,
		.wake = wake,
		.committed = committed,
		.arg = owner,
	};
}

static struct dlsi_group *open_group(struct owner *owner)
{
	struct dlsi_group_config config = config_of(owner);
	struct dlsi_group *group = NULL;
	struct dls_error err = {0};

	assert_int_equal(dlsi_random_start(), 0);
	*owner = (struct owner){0};
	if (dlsi_group_open(unit_alloc(), &config, &group, &err))
		fail_msg("%s", err.text);
	return group;
}

static void propose(struct dlsi_group *group, uint64_t number)
{
	uint8_t payload[50];
	struct dlsi_group_record record = {(const uint8_t *)&number, sizeof number, payload, number % 50};

	memset(payload, (int)number, sizeof payload);
	assert_int_equal(dlsi_group_propose(group, &record), 0);
}

/* Some in one step, some in the next, while the thread writes. */
static void test_records_in_their_order(void **state)
{
	struct dlsi_rng rng = unit_rng(3);
	struct owner owner;
	struct dlsi_group *group;
	struct dlsi_id cluster;
	uint64_t number = 0;

	(void)state;
	snprintf(folder, sizeof folder, "%s/data", unit_folder());
	group = open_group(&owner);
	cluster = owner.cluster;
	assert_int_equal(owner.term, 1);
	while (number < RECORDS) {
		for (uint64_t i = 1 + dlsi_rng_below(&rng, 5); i && number < RECORDS; i--)
			propose(group, number++);
		assert_int_equal(dlsi_group_step(group), 0);
		assert_true(owner.committed <= number);
	}
	while (owner.committed < RECORDS) {
		usleep(100);
		assert_int_equal(dlsi_group_step(group), 0);
	}
	assert_int_equal(dlsi_group_trouble(group, NULL), 0);
	dlsi_group_close(group);
	assert_true(atomic_load(&owner.wakes) >
		    0); /* by the thread, which may be later than its word that it has written */
	for (uint64_t term = 2; term < 5; term++) {
		group = open_group(&owner);
		assert_int_equal(owner.replayed, RECORDS);
		assert_int_equal(owner.term, term);
		assert_true(dlsi_id_equal(&owner.cluster, &cluster));
		dlsi_group_close(group);
	}
}

/* What was proposed and not waited for is there or not, and what follows it is not without it. */
static void test_closed_in_a_hurry(void **state)
{
	struct owner owner;
	struct dlsi_group *group;
	uint64_t number = 0;

	(void)state;
	snprintf(folder, sizeof folder, "%s/data", unit_folder());
	for (unsigned i = 0; i < 20; i++) {
		group = open_group(&owner);
		number = owner.replayed;
		for (unsigned j = 0; j < 30; j++) {
			propose(group, number++);
			assert_int_equal(dlsi_group_step(group), 0);
		}
		propose(group, number);
		dlsi_group_close(group);
		assert_true(owner.committed <= 30);
	}
}

static void test_one_owner_and_check(void **state)
{
	struct owner owner, other = {0};
	struct dlsi_group_config config = config_of(&other);
	struct dlsi_group_facts facts;
	struct dlsi_group *group, *second;

	(void)state;
	snprintf(folder, sizeof folder, "%s/data", unit_folder());
	assert_int_equal(dlsi_group_check(unit_alloc(), &config, &facts, NULL), DLS_ENOTFOUND);
	group = open_group(&owner);
	assert_int_equal(dlsi_group_open(unit_alloc(), &config, &second, NULL), DLS_EBUSY);
	assert_int_equal(dlsi_group_check(unit_alloc(), &config, &facts, NULL), DLS_EBUSY);
	propose(group, 0);
	assert_int_equal(dlsi_group_step(group), 0);
	dlsi_group_close(group);
	assert_int_equal(dlsi_group_check(unit_alloc(), &config, &facts, NULL), 0);
	assert_int_equal(other.replayed, 1);
	assert_int_equal(facts.entries, 2);
	assert_int_equal(facts.segments, 1);
}

/* More than the log may have is trouble, and nothing that was proposed is lost by it. */
static void test_long_log(void **state)
{
	struct owner owner;
	struct dlsi_group_config config = config_of(&owner);
	struct dlsi_group *group;
	struct dls_error err;

	(void)state;
	snprintf(folder, sizeof folder, "%s/data", unit_folder());
	owner = (struct owner){0};
	config.log_bytes = 1000;
	assert_int_equal(dlsi_group_open(unit_alloc(), &config, &group, NULL), 0);
	for (uint64_t number = 0; number < 40; number++)
		propose(group, number);
	while (owner.committed < 40) {
		assert_int_equal(dlsi_group_step(group), 0);
		usleep(100);
	}
	assert_int_equal(dlsi_group_trouble(group, &err), DLS_ELIMIT);
	assert_non_null(strstr(err.text, "is full"));
	dlsi_group_close(group);
}

UNIT_MAIN(test_records_in_their_order, test_closed_in_a_hurry, test_one_owner_and_check, test_long_log)
