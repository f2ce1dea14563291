/* The log when the program takes its lines late, slowly or never: whoever writes goes on, what waits is bounded, every
 * line comes once and in order or is counted as lost, and the end does not wait for ever. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/thread.h"
#include "node/log.h"
#include "test/unit/unit.h"
#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, LINES = 20000, PATIENT_S = 60 };

/* A program that takes as many lines as it is allowed to. Static: a thread may be left in it. */
static struct program {
	atomic_uint allowed;
	atomic_uint begun, left; /* calls */
	atomic_bool at_notice;   /* in the last one that began, a loss is told */
	atomic_uint taken, lost;
	unsigned notices;
	unsigned next[THREADS]; /* the lowest number that may come from each thread */
	bool in_order;
	unsigned next_at_notice;
	enum dls_log_level notice_level;
} program;

static void take(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line)
{
	unsigned thread, number, lost;
	bool is_notice = sscanf(line, "log: %u lines are lost", &lost) == 1;

	(void)log_arg;
	(void)time_ns;
	atomic_store(&program.at_notice, is_notice);
	atomic_fetch_add(&program.begun, 1);
	while (atomic_load(&program.left) >= atomic_load(&program.allowed))
		sched_yield();
	if (is_notice) {
		program.notices++;
		program.notice_level = level;
		program.next_at_notice = program.next[0];
		atomic_fetch_add(&program.lost, lost);
	} else if (sscanf(line, "%u: %u", &thread, &number) == 2) {
		program.in_order = program.in_order && number >= program.next[thread];
		program.next[thread] = number + 1;
		atomic_fetch_add(&program.taken, 1);
	}
	atomic_fetch_add(&program.left, 1);
}

static struct dlsi_log *begin(unsigned allowed)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dlsi_log *log;

	memset(&program, 0, sizeof program);
	program.in_order = true;
	atomic_store(&program.allowed, allowed);
	options.log = take;
	assert_int_equal(dlsi_log_create(&options, &log, NULL), 0);
	return log;
}

static void write_number(struct dlsi_log *log, enum dls_log_level level, unsigned thread, unsigned number)
{
	char line[64];

	snprintf(line, sizeof line, "%u: %u%*s", thread, number, (int)(number % 40), "");
	dlsi_log_write(log, level, line);
}

/* Waits for what another thread brings about. */
#define WAIT(condition)                                                                                                \
	for (int64_t since_ns = dlsi_clock_monotonic_ns(); !(condition);)                                              \
	yield(since_ns, #condition)

static void yield(int64_t since_ns, const char *condition)
{
	if (dlsi_clock_monotonic_ns() - since_ns > PATIENT_S * DLSI_SECOND_NS)
		fail_msg("%s: not after %d s; %u lines taken, %u lost", condition, PATIENT_S,
			atomic_load(&program.taken), atomic_load(&program.lost));
	sched_yield();
}

/* With every line taken or told to be lost: only so long does the log wait for the program. */
static void end(struct dlsi_log *log, unsigned lines)
{
	WAIT(atomic_load(&program.taken) + atomic_load(&program.lost) >= lines);
	dlsi_log_destroy(log);
	assert_int_equal(atomic_load(&program.taken) + atomic_load(&program.lost), lines);
}

/* With the program in the middle of taking the first line. */
static void write_while_blocked(struct dlsi_log *log, unsigned lines)
{
	for (unsigned i = 0; i < lines; i++) {
		write_number(log, i == LINES - 1 ? DLS_LOG_WARNING : DLS_LOG_DEBUG, 0, i);
		WAIT(atomic_load(&program.begun));
	}
}

struct writer {
	struct dlsi_log *log;
	unsigned thread;
};

static void *write_all(void *arg)
{
	struct writer *writer = arg;

	for (unsigned i = 0; i < LINES; i++)
		write_number(writer->log, DLS_LOG_INFO, writer->thread, i);
	return NULL;
}

static void test_every_line_comes_or_is_counted(void **state)
{
	struct writer writers[THREADS];
	pthread_t threads[THREADS];
	struct dlsi_log *log = begin(UINT_MAX);

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){log, i};
		assert_int_equal(dlsi_thread_start(&threads[i], "writer", write_all, &writers[i], NULL), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	end(log, THREADS * LINES);
	assert_true(program.in_order);
}

static void test_what_waits_is_bounded(void **state)
{
	struct dlsi_log *log = begin(0);

	(void)state;
	write_while_blocked(log, LINES);
	atomic_store(&program.allowed, UINT_MAX);
	end(log, LINES);
	assert_in_range(atomic_load(&program.taken), 100, DLSI_LOG_BYTES / 10);
	assert_int_equal(program.notices, 1);
	assert_int_equal(program.notice_level, DLS_LOG_WARNING); /* that of the gravest */
	assert_true(program.in_order);
}

static void test_a_loss_is_told_where_it_happened(void **state)
{
	enum { MOST = DLSI_LOG_BYTES / 100 }; /* more than half of what fits */
	struct dlsi_log *log = begin(0);

	(void)state;
	write_while_blocked(log, LINES);
	atomic_store(&program.allowed, MOST);
	WAIT(atomic_load(&program.left) == MOST);
	write_number(log, DLS_LOG_INFO, 0, LINES);
	write_number(log, DLS_LOG_INFO, 0, LINES + 1);
	atomic_store(&program.allowed, UINT_MAX);
	end(log, LINES + 2);
	assert_int_equal(program.notices, 1);
	assert_in_range(program.next_at_notice, MOST, LINES);
	assert_int_equal(program.next[0], LINES + 2);
}

/* Whether a log still has its thread, also one that was left behind. */
static bool has_thread(void)
{
	DIR *threads = opendir("/proc/self/task");
	bool found = false;

	for (struct dirent *entry = readdir(threads); entry; entry = readdir(threads)) {
		char path[300], name[16] = "";
		FILE *file;

		snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (!file) /* gone meanwhile, or no thread */
			continue;
		if (fscanf(file, "%15s", name) == 1 && strcmp(name, "dls-log") == 0)
			found = true;
		fclose(file);
	}
	closedir(threads);
	return found;
}

/* Leaves the log in the middle of a call, and then lets the program go on. */
static void abandon(struct dlsi_log *log)
{
	dlsi_log_destroy(log);
	atomic_store(&program.allowed, UINT_MAX);
	WAIT(!has_thread());
}

static void test_the_end_does_not_wait_for_ever(void **state)
{
	struct dlsi_log *log = begin(0);

	(void)state;
	write_while_blocked(log, 2);
	abandon(log);
	assert_int_equal(atomic_load(&program.left), 1);
}

/* Nor is the line given to it that comes behind a loss, when it was left in the middle of being told of that. */
static void test_nothing_comes_after_the_end(void **state)
{
	enum { MOST = DLSI_LOG_BYTES / 100 }; /* more than half of what fits */
	struct dlsi_log *log = begin(0);
	unsigned calls;

	(void)state;
	write_while_blocked(log, LINES);
	atomic_store(&program.allowed, MOST);
	WAIT(atomic_load(&program.left) == MOST);
	write_number(log, DLS_LOG_INFO, 0, LINES);
	for (calls = MOST;; calls++) {
		WAIT(atomic_load(&program.begun) == calls + 1);
		if (atomic_load(&program.at_notice))
			break;
		atomic_store(&program.allowed, calls + 1);
	}
	abandon(log);
	assert_int_equal(atomic_load(&program.left), calls + 1);
}

UNIT_MAIN(test_every_line_comes_or_is_counted, test_what_waits_is_bounded, test_a_loss_is_told_where_it_happened,
	test_the_end_does_not_wait_for_ever, test_nothing_comes_after_the_end)
