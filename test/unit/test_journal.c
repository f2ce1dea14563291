/* The log on disk: what was promised is there after any crash, what was damaged is named, what was torn is cut. */
#include "base/random.h"
#include "store/ballot.h"
#include "store/journal.h"
#include "test/unit/disk.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 4096, LONGEST = 300, SEEDS = 40 };

static const struct dlsi_id cluster = {{1, 2, 3}};

/* What the log should hold: data of entry i is made from its stamp, which is another one after each crash. */
struct model {
	uint64_t stamps[MOST];
	uint64_t promised, written; /* entries; beyond the first nothing is certain */
	uint64_t read;
};

static uint32_t data_of(uint64_t index, uint64_t stamp, uint8_t data[LONGEST])
{
	struct dlsi_rng rng;
	uint32_t length;
	uint8_t first;

	dlsi_rng_init(&rng, index * 1000003 + stamp);
	length = (uint32_t)dlsi_rng_below(&rng, LONGEST);
	first = (uint8_t)dlsi_rng_next(&rng);
	for (uint32_t i = 0; i < length; i++)
		data[i] = (uint8_t)(first + i);
	return length;
}

static int visit(void *arg, const struct dlsi_journal_entry *entry, struct dls_error *err)
{
	struct model *model = arg;
	uint8_t data[LONGEST];

	(void)err;
	assert_int_equal(entry->index, ++model->read);
	assert_true(entry->index <= model->written);
	assert_int_equal(entry->length, data_of(entry->index, model->stamps[entry->index], data));
	assert_memory_equal(entry->data, data, entry->length);
	assert_int_equal(entry->type, entry->index % 3);
	return 0;
}

static int try_open(struct unit_disk *disk, struct model *model, uint64_t noted, struct dlsi_journal **journal_out,
	struct dls_error *err)
{
	struct dlsi_journal_config config = {
		.cluster = cluster, .noted = noted, .segment_bytes = 2000, .visit = visit, .visit_arg = model};

	model->read = 0;
	return dlsi_journal_open(unit_alloc(), &disk->files, &config, journal_out, err);
}

static struct dlsi_journal *open_journal(struct unit_disk *disk, struct model *model)
{
	struct dlsi_journal *journal = NULL;
	struct dls_error err = {0};

	if (try_open(disk, model, model->promised, &journal, &err))
		fail_msg("%s", err.text);
	assert_true(model->read >= model->promised);
	model->promised = model->written = model->read;
	assert_int_equal(dlsi_journal_facts(journal).last_index, model->read);
	return journal;
}

static int append(struct dlsi_journal *journal, struct model *model, unsigned count, uint64_t stamp)
{
	static uint8_t data[16][LONGEST];
	struct dlsi_journal_entry entries[16];
	uint64_t last = dlsi_journal_facts(journal).last_index;
	int rc;

	for (unsigned i = 0; i < count; i++) {
		uint64_t index = last + 1 + i;

		model->stamps[index] = stamp;
		entries[i] = (struct dlsi_journal_entry){.index = index, .term = 1, .type = index % 3, .data = data[i]};
		entries[i].length = data_of(index, stamp, data[i]);
	}
	model->written = last + count;
	rc = dlsi_journal_append(journal, entries, count, NULL);
	if (rc == 0)
		model->promised = model->written;
	return rc;
}

static void begin(struct unit_disk *disk, struct model *model, uint64_t seed)
{
	assert_int_equal(dlsi_random_start(), 0);
	unit_disk_init(disk, seed);
	memset(model, 0, sizeof *model);
}

/* Power cuts at random steps: whatever was promised comes back, byte by byte, and what comes back goes on. */
static void test_crashes(void **state)
{
	static struct model model;
	struct unit_disk disk;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);

		begin(&disk, &model, seed);
		disk.short_writes = seed % 2;
		for (unsigned life = 0; life < 30; life++) {
			struct dlsi_journal *journal = open_journal(&disk, &model);

			disk.crash_at = disk.steps + 1 + dlsi_rng_below(&rng, 60);
			while (model.written < MOST - 32 &&
				append(journal, &model, 1 + (unsigned)dlsi_rng_below(&rng, 15), seed * 100 + life) == 0)
				;
			dlsi_journal_close(journal);
			unit_disk_crash(&disk);
		}
		dlsi_journal_close(open_journal(&disk, &model));
		unit_disk_fini(&disk);
	}
}

/* A disk that is full or fails refuses, and takes the same entries when it has recovered; then comes a crash. */
static void test_full_and_failing_disk(void **state)
{
	static struct model model;
	struct unit_disk disk;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_journal *journal;

		begin(&disk, &model, seed);
		journal = open_journal(&disk, &model);
		for (unsigned i = 0; i < 60; i++) {
			unsigned count = 1 + (unsigned)dlsi_rng_below(&rng, 15);

			disk.fails = dlsi_rng_below(&rng, 3) == 0;
			disk.room = dlsi_rng_below(&rng, 3) == 0 ? dlsi_rng_below(&rng, 3000) : UINT64_MAX;
			append(journal, &model, count, seed * 100 + i);
		}
		assert_true(model.promised > 0);
		dlsi_journal_close(journal);
		disk.fails = false;
		disk.room = UINT64_MAX;
		unit_disk_crash(&disk);
		dlsi_journal_close(open_journal(&disk, &model));
		unit_disk_fini(&disk);
	}
}

/* One bit of what was promised long ago, anywhere: it is found, and named. */
static void test_flipped_bits(void **state)
{
	static struct model model;
	struct unit_disk disk;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_journal *journal;
		struct dls_error err = {0};
		struct unit_disk_file *file;
		size_t at;

		begin(&disk, &model, seed);
		journal = open_journal(&disk, &model);
		while (model.written < 100)
			append(journal, &model, 1 + (unsigned)dlsi_rng_below(&rng, 5), seed);
		dlsi_journal_close(journal);
		file = &disk.at[dlsi_rng_below(&rng, disk.count)];
		at = dlsi_rng_below(&rng, file->length);
		file->data[at] ^= (uint8_t)(1 << dlsi_rng_below(&rng, 8));
		assert_int_equal(try_open(&disk, &model, model.promised, &journal, &err), DLS_EFORMAT);
		assert_non_null(strstr(err.text, file->name));
		unit_disk_fini(&disk);
	}
}

/* Without a note of how far the log went, an entry before those of a later group betrays itself; the last does not. */
static void test_damage_and_torn_end(void **state)
{
	static struct model model;
	struct unit_disk disk;
	struct dlsi_journal *journal;
	struct dls_error err = {0};

	(void)state;
	begin(&disk, &model, 1);
	journal = open_journal(&disk, &model);
	for (unsigned i = 0; i < 3; i++)
		append(journal, &model, 1, 1);
	dlsi_journal_close(journal);
	unit_disk_last(&disk, "log-")->data[48 + 8] ^= 1;
	assert_int_equal(try_open(&disk, &model, 0, &journal, &err), DLS_EFORMAT);
	assert_non_null(strstr(err.text, "log-0000000000000001 is damaged at offset 48"));
	unit_disk_last(&disk, "log-")->data[48 + 8] ^= 1;
	unit_disk_last(&disk, "log-")->length -= 4;
	assert_int_equal(try_open(&disk, &model, 0, &journal, &err), 0);
	assert_int_equal(model.read, 2);
	assert_true(dlsi_journal_facts(journal).torn_bytes > 0);
	model.promised = 2;
	dlsi_journal_close(journal);
	dlsi_journal_close(open_journal(&disk, &model));
	unit_disk_fini(&disk);
}

static void test_missing_files(void **state)
{
	static struct model model;
	struct unit_disk disk;
	struct dlsi_journal *journal;
	struct dls_error err = {0};

	(void)state;
	begin(&disk, &model, 1);
	journal = open_journal(&disk, &model);
	while (model.written < 100)
		append(journal, &model, 1, 1);
	dlsi_journal_close(journal);
	unit_disk_last(&disk, "log-")->exists = false;
	assert_int_equal(try_open(&disk, &model, 100, &journal, &err), DLS_EFORMAT);
	assert_non_null(strstr(err.text, "which was there once"));
	unit_disk_find(&disk, "log-0000000000000001")->exists = false;
	assert_int_equal(try_open(&disk, &model, 0, &journal, &err), DLS_EFORMAT);
	assert_non_null(strstr(err.text, "no file with entry 1 of the log"));
	unit_disk_fini(&disk);
}

/* A ballot is the old or the new one after a crash at each step of writing it, and both files damaged are an error. */
static void test_ballot(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20 * SEEDS; seed++) {
		struct dlsi_ballot ballot = {.cluster = cluster, .term = 1}, found;
		struct unit_disk disk;
		int rc = 0;

		unit_disk_init(&disk, seed);
		assert_int_equal(dlsi_ballot_read(&disk.files, unit_alloc(), &found, NULL), DLS_ENOTFOUND);
		assert_int_equal(dlsi_ballot_write(&disk.files, &ballot, NULL), 0);
		disk.crash_at = disk.steps + 1 + seed % 20;
		while (rc == 0) {
			ballot.term++;
			rc = dlsi_ballot_write(&disk.files, &ballot, NULL);
		}
		unit_disk_crash(&disk);
		assert_int_equal(dlsi_ballot_read(&disk.files, unit_alloc(), &found, NULL), 0);
		assert_true(found.term == ballot.term || found.term == ballot.term - 1);
		assert_true(dlsi_id_equal(&found.cluster, &cluster));
		for (unsigned i = 0; i < disk.count; i++)
			if (disk.at[i].length)
				disk.at[i].data[dlsi_rng_below(&disk.rng, disk.at[i].length)] ^= 16;
		assert_int_equal(dlsi_ballot_read(&disk.files, unit_alloc(), &found, NULL), DLS_EFORMAT);
		unit_disk_fini(&disk);
	}
}

UNIT_MAIN(test_crashes, test_full_and_failing_disk, test_flipped_bits, test_damage_and_torn_end, test_missing_files,
	test_ballot)
