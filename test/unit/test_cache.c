/* The cache of files by hash: what was added comes back as it was or not at all, whatever is in the folder, whoever
 * else uses it, and however little room there is. */
#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "store/cache.h"
#include "store/evict.h"
#include "test/unit/unit.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[128];

/* A file that the tests put into caches. */
struct item {
	char text[64];
	size_t length;
	struct dlsi_hash hash;
	char name[DLSI_HASH_TEXT_BYTES + 32]; /* and what dlsi_file_write adds */
};

static struct item item_of(int number, size_t length)
{
	struct item item = {.length = length};

	memset(item.text, 'a' + number % 26, sizeof item.text);
	item.text[0] = (char)number;
	item.hash = dlsi_hash_of(item.text, length);
	dlsi_hex(item.hash.bytes, sizeof item.hash.bytes, item.name);
	return item;
}

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static struct dlsi_cache *open_cache(uint64_t limit)
{
	struct dlsi_cache *cache = NULL;
	struct dls_error err = {0};

	if (dlsi_cache_open(unit_alloc(), folder, limit, &cache, &err))
		fail_msg("%s", err.text);
	return cache;
}

static void make_folder(void)
{
	snprintf(folder, sizeof folder, "%s/models", unit_folder());
}

static int write_new(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		return -1;
	return close(fd);
}

static void add(struct dlsi_cache *cache, const struct item *item)
{
	assert_int_equal(dlsi_cache_add(cache, &item->hash, (const uint8_t *)item->text, item->length, NULL), 0);
}

/* Whether an item is in the cache; if so, it is right. */
static bool has(struct dlsi_cache *cache, const struct item *item)
{
	uint8_t *data;
	int rc = dlsi_cache_read(cache, &item->hash, item->length, &data, NULL);

	if (rc) {
		assert_int_equal(rc, DLS_ENOTFOUND);
		return false;
	}
	assert_memory_equal(data, item->text, item->length);
	dlsi_free(unit_alloc(), data);
	return true;
}

/* As if it had been used so many seconds ago. */
static void set_used(const struct item *item, int seconds_ago)
{
	struct timespec times[2] = {{.tv_sec = dlsi_clock_utc_ns() / DLSI_SECOND_NS - seconds_ago}};

	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path_of(item->name), times, 0), 0);
}

static void test_added_is_there_for_all(void **state)
{
	struct item item = item_of(1, 10), other = item_of(2, 10), empty = item_of(3, 0);
	struct dlsi_cache *cache, *neighbour;
	struct stat status;

	(void)state;
	make_folder();
	cache = open_cache(0);
	neighbour = open_cache(0);
	assert_false(has(cache, &item));
	add(cache, &item);
	add(cache, &empty);
	assert_true(has(cache, &item));
	assert_true(has(neighbour, &item));
	assert_true(has(neighbour, &empty));
	assert_false(has(cache, &other));
	add(neighbour, &item); /* a second time, by another */
	assert_true(has(cache, &item));
	assert_int_equal(stat(path_of(item.name), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0400);
	dlsi_cache_close(neighbour);
	dlsi_cache_close(cache);
	cache = open_cache(0);
	assert_true(has(cache, &item));
	dlsi_cache_close(cache);
}

enum { DAMAGES = 4 };

static void damage(const struct item *item, int how)
{
	static const off_t lengths[DAMAGES] = {0, 9, 11, (off_t)1 << 40}; /* the last would take hours to hash */
	int fd;

	assert_int_equal(chmod(path_of(item->name), 0600), 0);
	fd = open(path_of(item->name), O_WRONLY);
	assert_true(fd >= 0);
	if (how == 0)
		assert_int_equal(pwrite(fd, "!", 1, 5), 1);
	else
		assert_int_equal(ftruncate(fd, lengths[how]), 0);
	close(fd);
}

static void test_damaged_file_is_removed_and_added_again(void **state)
{
	struct item item = item_of(1, 10);
	struct dlsi_cache *cache;

	(void)state;
	make_folder();
	cache = open_cache(0);
	for (int how = 0; how < 2 * DAMAGES; how++) {
		add(cache, &item);
		damage(&item, how % DAMAGES);
		if (how < DAMAGES) {
			assert_false(has(cache, &item));
			assert_int_equal(access(path_of(item.name), F_OK), -1);
		}
		add(cache, &item); /* also over the damaged one */
		assert_true(has(cache, &item));
	}
	dlsi_cache_close(cache);
}

static void test_longest_unused_goes_first(void **state)
{
	struct item items[4], big = item_of(9, 25);
	struct dlsi_cache *cache;

	(void)state;
	make_folder();
	cache = open_cache(40);
	for (int i = 0; i < 4; i++) {
		items[i] = item_of(i, 10);
		add(cache, &items[i]);
	}
	for (int i = 0; i < 4; i++)
		assert_true(has(cache, &items[i]));
	set_used(&items[0], 10);
	set_used(&items[1], 40);
	set_used(&items[2], 30);
	set_used(&items[3], 20);
	assert_true(has(cache, &items[1])); /* which uses it */
	add(cache, &big);                   /* three must go */
	assert_true(has(cache, &big));
	assert_true(has(cache, &items[1]));
	assert_false(has(cache, &items[0]));
	assert_false(has(cache, &items[2]));
	assert_false(has(cache, &items[3]));
	dlsi_cache_close(cache);
}

static void test_no_room(void **state)
{
	struct item first = item_of(1, 10), second = item_of(2, 10), big = item_of(4, 21);
	struct dlsi_cache *cache;
	struct dls_error err;

	(void)state;
	make_folder();
	cache = open_cache(20);
	add(cache, &first);
	add(cache, &second);
	assert_int_equal(dlsi_cache_add(cache, &big.hash, (const uint8_t *)big.text, big.length, &err), DLS_ELIMIT);
	assert_non_null(strstr(err.text, "limit is 20"));
	assert_true(has(cache, &first));
	assert_true(has(cache, &second));
	dlsi_cache_close(cache);
}

static void test_folder_that_was_tidied_away_is_made_again(void **state)
{
	struct item item = item_of(1, 10);
	struct dlsi_cache *cache;

	(void)state;
	make_folder();
	cache = open_cache(0);
	assert_int_equal(rmdir(folder), 0);
	assert_false(has(cache, &item));
	add(cache, &item);
	assert_true(has(cache, &item));
	dlsi_cache_close(cache);
}

static void test_odd_files_are_left_alone(void **state)
{
	struct item item = item_of(1, 10), folder_item = item_of(2, 10), link_item = item_of(3, 10),
		    short_item = item_of(4, 10);
	struct dlsi_cache *cache;
	uint8_t *data;

	(void)state;
	make_folder();
	cache = open_cache(10);
	short_item.name[DLSI_HASH_TEXT_BYTES - 2] = '\0';
	assert_int_equal(write_new(path_of("notes.txt"), "0123456789", 10), 0);
	assert_int_equal(write_new(path_of(short_item.name), "0123456789", 10), 0);
	assert_int_equal(mkdir(path_of(folder_item.name), 0700), 0);
	assert_int_equal(symlink("notes.txt", path_of(link_item.name)), 0);
	add(cache, &item); /* the others do not count */
	assert_true(has(cache, &item));
	assert_int_equal(dlsi_cache_read(cache, &folder_item.hash, 10, &data, NULL), DLS_EIO);
	assert_int_equal(dlsi_cache_read(cache, &link_item.hash, 10, &data, NULL), DLS_EIO);
	assert_int_equal(access(path_of("notes.txt"), F_OK), 0);
	assert_int_equal(access(path_of(short_item.name), F_OK), 0);
	dlsi_cache_close(cache);
}

static void test_left_overs_are_removed_when_old(void **state)
{
	struct item old = item_of(1, 10), young = item_of(2, 10), other = {.name = "notes.new"};
	struct item *const all[] = {&old, &young, &other};

	(void)state;
	make_folder();
	dlsi_cache_close(open_cache(0));
	strcat(old.name, ".0123456789abcdef" DLSI_FILE_NEW);
	strcat(young.name, ".0123456789abcdef" DLSI_FILE_NEW);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write_new(path_of(all[i]->name), "x", 1), 0);
		set_used(all[i], i == 1 ? 3500 : 3700);
	}
	dlsi_cache_close(open_cache(0));
	assert_int_equal(access(path_of(old.name), F_OK), -1);
	assert_int_equal(access(path_of(young.name), F_OK), 0);
	assert_int_equal(access(path_of(other.name), F_OK), 0);
}

static void test_full_disk(void **state)
{
	struct item item = item_of(1, 10);
	struct dlsi_cache *cache;
	struct dls_error err;

	(void)state;
	make_folder();
	cache = open_cache(UINT64_C(1) << 60);
	assert_int_equal(
		dlsi_cache_add(cache, &item.hash, (const uint8_t *)item.text, UINT64_C(1) << 59, &err), DLS_EIO);
	assert_non_null(strstr(err.text, folder));
	assert_non_null(strstr(err.text, "full"));
	assert_false(has(cache, &item));
	dlsi_cache_close(cache);
	assert_int_equal(dlsi_cache_open(unit_alloc(), "/dev/null/cache", 0, &cache, &err), DLS_EIO);
	assert_non_null(strstr(err.text, "/dev/null"));
}

/* Many users with a limit that holds a third of what they use: each sees right content or none, and the limit holds. */
enum { USERS = 4, ROUNDS = 150, ITEMS = 9 };

static void *use(void *arg)
{
	uint64_t seed = *(const uint64_t *)arg;
	struct dlsi_cache *cache = NULL;
	uint64_t *wrong = arg;
	struct dlsi_rng rng;

	*wrong = 0;
	dlsi_rng_init(&rng, seed);
	if (dlsi_cache_open(unit_alloc(), folder, 30, &cache, NULL))
		return NULL;
	for (int i = 0; i < ROUNDS; i++) {
		struct item item = item_of((int)dlsi_rng_below(&rng, ITEMS), 10);
		uint8_t *data;
		int rc = dlsi_cache_read(cache, &item.hash, item.length, &data, NULL);

		if (rc == 0) {
			*wrong += memcmp(data, item.text, item.length) != 0;
			dlsi_free(unit_alloc(), data);
		} else {
			*wrong += rc != DLS_ENOTFOUND;
			*wrong += dlsi_cache_add(cache, &item.hash, (const uint8_t *)item.text, item.length, NULL) != 0;
		}
	}
	dlsi_cache_close(cache);
	return NULL;
}

static void test_many_users_of_one_folder(void **state)
{
	pthread_t threads[USERS];
	uint64_t results[USERS];
	struct dlsi_cache *cache;
	unsigned left = 0;

	(void)state;
	make_folder();
	for (int i = 0; i < USERS; i++) {
		results[i] = (uint64_t)i + 1;
		assert_int_equal(dlsi_thread_start(&threads[i], "test", use, &results[i], NULL), 0);
	}
	for (int i = 0; i < USERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < USERS; i++)
		assert_int_equal(results[i], 0);
	cache = open_cache(30);
	for (int i = 0; i < ITEMS; i++) {
		struct item item = item_of(i, 10);

		left += has(cache, &item);
	}
	assert_in_range(left, 1, 3 + USERS - 1); /* those that were being added at once do not see each other */
	dlsi_cache_close(cache);
}

static void test_memory_runs_out(void **state)
{
	struct item item = item_of(1, 10);
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	make_folder();
	for (n = 1; rc; n++) {
		struct dlsi_cache *cache = NULL;
		uint8_t *data;

		assert_true(n < 50);
		rc = dlsi_cache_open(unit_alloc_failing_at(n), folder, 0, &cache, NULL);
		if (rc == 0)
			rc = dlsi_cache_add(cache, &item.hash, (const uint8_t *)item.text, item.length, NULL);
		if (rc == 0)
			rc = dlsi_cache_read(cache, &item.hash, item.length, &data, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		if (rc == 0)
			dlsi_free(unit_alloc(), data);
		dlsi_cache_close(cache);
	}
	assert_true(n > 5);
}

UNIT_MAIN(test_added_is_there_for_all, test_damaged_file_is_removed_and_added_again, test_longest_unused_goes_first,
	test_no_room, test_folder_that_was_tidied_away_is_made_again, test_odd_files_are_left_alone,
	test_left_overs_are_removed_when_old, test_full_disk, test_many_users_of_one_folder, test_memory_runs_out)
