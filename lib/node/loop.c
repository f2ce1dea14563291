#include "node/loop.h"

#include "base/condition.h"
#include "base/recent.h"
#include "base/thread.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct dlsi_loop {
	const struct dlsi_alloc *alloc;
	pthread_t thread;
	int wake_fd;

	/* the thread's own */
	struct dlsi_list members;
	size_t member_count;
	struct pollfd *fds; /* first the wake-up, then those of the members */
	size_t capacity;
	bool stopping;
	int64_t longest_ns;
	struct dlsi_recent recent_ns; /* turns */

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t called;
	struct dlsi_errand *first;
	struct dlsi_errand **last; /* where the next one is linked */
};

/* A thread that waits for its errand to have run. */
struct call {
	struct dlsi_errand errand;
	struct dlsi_loop *loop;
	int (*run)(void *arg, int64_t now_ns);
	void *arg;
	int rc;
	bool done;
};

static int reserve_fds(struct dlsi_loop *loop, size_t members)
{
	size_t needed = 1 + members * DLSI_LOOP_FDS;
	struct pollfd *grown;

	if (needed <= loop->capacity)
		return 0;
	grown = dlsi_realloc(loop->alloc, loop->fds, 2 * needed * sizeof *grown);
	if (!grown)
		return DLS_ENOMEM;
	loop->fds = grown;
	loop->capacity = 2 * needed;
	return 0;
}

static size_t collect_fds(struct dlsi_loop *loop)
{
	size_t count = 1;

	loop->fds[0] = (struct pollfd){.fd = loop->wake_fd, .events = POLLIN};
	dlsi_list_each (node, &loop->members) {
		struct dlsi_loop_member *member = dlsi_list_entry(node, struct dlsi_loop_member, node);
		int fds[DLSI_LOOP_FDS];

		member->first_fd = count;
		member->fd_count = member->ops->descriptors(member, fds);
		for (unsigned i = 0; i < member->fd_count; i++)
			loop->fds[count++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	}
	return count;
}

/* Milliseconds until the first deadline, rounded up so that it has come when the wait is over. */
static int time_left(const struct dlsi_loop *loop)
{
	int64_t first = INT64_MAX, left;

	dlsi_list_each (node, &loop->members) {
		const struct dlsi_loop_member *member = dlsi_list_entry(node, struct dlsi_loop_member, node);

		if (member->touched || member->unread)
			return 0;
		if (member->deadline_ns < first)
			first = member->deadline_ns;
	}
	if (first == INT64_MAX)
		return -1;
	left = first - dlsi_clock_monotonic_ns();
	if (left <= 0)
		return 0;
	left = (left - 1) / DLSI_MILLISECOND_NS + 1;
	return left < INT_MAX ? (int)left : INT_MAX;
}

static struct dlsi_errand *next_errand(struct dlsi_loop *loop)
{
	struct dlsi_errand *errand;

	pthread_mutex_lock(&loop->mutex);
	errand = loop->first;
	if (errand) {
		loop->first = errand->next;
		if (!loop->first)
			loop->last = &loop->first;
		errand->queued = false;
	}
	pthread_mutex_unlock(&loop->mutex);
	return errand;
}

static void wake(struct dlsi_loop *loop)
{
	while (eventfd_write(loop->wake_fd, 1) < 0 && errno == EINTR)
		;
}

static void run_errands(struct dlsi_loop *loop, int64_t now_ns)
{
	eventfd_t ignored;
	struct dlsi_errand *errand;

	if (!loop->fds[0].revents)
		return;
	eventfd_read(loop->wake_fd, &ignored);
	for (unsigned i = 0; i < DLSI_LOOP_ERRANDS && (errand = next_errand(loop)); i++)
		errand->run(errand, now_ns);
	pthread_mutex_lock(&loop->mutex);
	if (loop->first)
		wake(loop);
	pthread_mutex_unlock(&loop->mutex);
}

static bool is_ready(const struct dlsi_loop *loop, const struct dlsi_loop_member *member)
{
	for (unsigned i = 0; i < member->fd_count; i++)
		if (loop->fds[member->first_fd + i].revents)
			return true;
	return member->unread;
}

static void visit_members(struct dlsi_loop *loop, int64_t now_ns)
{
	dlsi_list_each (node, &loop->members) {
		struct dlsi_loop_member *member = dlsi_list_entry(node, struct dlsi_loop_member, node);

		if (is_ready(loop, member)) {
			member->ops->ready(member, now_ns);
			member->touched = true;
		}
		if (member->touched || member->deadline_ns <= now_ns) {
			member->touched = false;
			member->ops->turn(member, now_ns);
		}
	}
}

/* All that the loop does between two waits. */
static void note_turn(struct dlsi_loop *loop, int64_t begin_ns)
{
	int64_t now_ns = dlsi_clock_monotonic_ns(), took_ns = now_ns - begin_ns;

	dlsi_recent_add(&loop->recent_ns, now_ns, took_ns);
	if (took_ns > loop->longest_ns)
		loop->longest_ns = took_ns;
}

static void *run(void *arg)
{
	struct dlsi_loop *loop = arg;
	int64_t now_ns = dlsi_clock_monotonic_ns();

	while (!loop->stopping) {
		size_t count = collect_fds(loop);

		note_turn(loop, now_ns);
		if (poll(loop->fds, (nfds_t)count, time_left(loop)) < 0)
			for (size_t i = 0; i < count; i++) /* nothing is known of them: everybody looks */
				loop->fds[i].revents = POLLIN;
		now_ns = dlsi_clock_monotonic_ns();
		run_errands(loop, now_ns);
		visit_members(loop, now_ns);
	}
	return NULL;
}

int dlsi_loop_create(const struct dlsi_alloc *alloc, struct dlsi_loop **loop_out, struct dls_error *err)
{
	struct dlsi_loop *loop = dlsi_calloc(alloc, 1, sizeof *loop);
	int rc;

	if (!loop)
		return dlsi_fail_memory(err);
	loop->alloc = alloc;
	dlsi_list_init(&loop->members);
	loop->last = &loop->first;
	loop->recent_ns.span_ns = DLSI_LOOP_RECENT_NS;
	pthread_mutex_init(&loop->mutex, NULL);
	dlsi_condition_init(&loop->called);
	loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->wake_fd < 0)
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot create a descriptor for the loop");
	else if (reserve_fds(loop, 1))
		rc = dlsi_fail_memory(err);
	else
		rc = dlsi_thread_start(&loop->thread, "dls-loop", run, loop, err);
	if (rc == 0) {
		*loop_out = loop;
		return 0;
	}
	if (loop->wake_fd >= 0)
		close(loop->wake_fd);
	pthread_cond_destroy(&loop->called);
	pthread_mutex_destroy(&loop->mutex);
	dlsi_free(alloc, loop->fds);
	dlsi_free(alloc, loop);
	return rc;
}

static int stop(void *arg, int64_t now_ns)
{
	struct dlsi_loop *loop = arg;

	(void)now_ns;
	loop->stopping = true;
	return 0;
}

void dlsi_loop_destroy(struct dlsi_loop *loop)
{
	if (!loop)
		return;
	dlsi_loop_call(loop, stop, loop);
	pthread_join(loop->thread, NULL);
	close(loop->wake_fd);
	pthread_cond_destroy(&loop->called);
	pthread_mutex_destroy(&loop->mutex);
	dlsi_free(loop->alloc, loop->fds);
	dlsi_free(loop->alloc, loop);
}

void dlsi_loop_post(struct dlsi_loop *loop, struct dlsi_errand *errand)
{
	bool asleep = false;

	pthread_mutex_lock(&loop->mutex);
	if (!errand->queued) {
		asleep = !loop->first;
		errand->queued = true;
		errand->next = NULL;
		*loop->last = errand;
		loop->last = &errand->next;
	}
	pthread_mutex_unlock(&loop->mutex);
	if (asleep)
		wake(loop); /* not before: it would run into the lock */
}

static void run_call(struct dlsi_errand *errand, int64_t now_ns)
{
	struct call *call = (struct call *)errand;
	struct dlsi_loop *loop = call->loop;
	int rc = call->run(call->arg, now_ns);

	pthread_mutex_lock(&loop->mutex);
	call->rc = rc;
	call->done = true;
	pthread_mutex_unlock(&loop->mutex);
	pthread_cond_broadcast(&loop->called);
}

int dlsi_loop_call(struct dlsi_loop *loop, int (*run)(void *arg, int64_t now_ns), void *arg)
{
	struct call call = {.errand = {.run = run_call}, .loop = loop, .run = run, .arg = arg};

	dlsi_loop_post(loop, &call.errand);
	pthread_mutex_lock(&loop->mutex);
	while (!call.done)
		dlsi_condition_wait(&loop->called, &loop->mutex, INT64_MAX);
	pthread_mutex_unlock(&loop->mutex);
	return call.rc;
}

int64_t dlsi_loop_longest_ns(const struct dlsi_loop *loop)
{
	return loop->longest_ns;
}

int64_t dlsi_loop_recent_ns(const struct dlsi_loop *loop, int64_t now_ns)
{
	return dlsi_recent_most(&loop->recent_ns, now_ns);
}

int dlsi_loop_add(struct dlsi_loop *loop, struct dlsi_loop_member *member)
{
	int rc = reserve_fds(loop, loop->member_count + 1);

	if (rc)
		return rc;
	loop->member_count++;
	member->fd_count = 0;
	member->touched = true;
	dlsi_list_append(&loop->members, &member->node);
	return 0;
}

void dlsi_loop_remove(struct dlsi_loop *loop, struct dlsi_loop_member *member)
{
	loop->member_count--;
	dlsi_list_remove(&member->node);
}
