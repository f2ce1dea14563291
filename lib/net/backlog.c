#include "net/backlog.h"

#include "base/limits.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct dlsi_backlog {
	atomic_size_t references;
	atomic_size_t bytes;
	struct dlsi_backlog *whole; /* NULL: this is it */
	atomic_bool asked;          /* whole: somebody waits for room */
	int room;                   /* whole: the descriptor */
	const struct dlsi_alloc *alloc;
};

/* One frame that counts. */
struct counted {
	struct dlsi_backlog *peer;
	struct dlsi_frame *frame;
	const struct dlsi_alloc *alloc;
};

static struct dlsi_backlog *create(const struct dlsi_alloc *alloc)
{
	struct dlsi_backlog *backlog = dlsi_malloc(alloc, sizeof *backlog);

	if (!backlog)
		return NULL;
	*backlog = (struct dlsi_backlog){.alloc = alloc, .room = -1};
	atomic_init(&backlog->references, 1);
	atomic_init(&backlog->bytes, 0);
	atomic_init(&backlog->asked, false);
	return backlog;
}

int dlsi_backlog_create(const struct dlsi_alloc *alloc, struct dlsi_backlog **whole_out, struct dls_error *err)
{
	struct dlsi_backlog *whole = create(alloc);

	if (!whole)
		return dlsi_fail_memory(err);
	whole->room = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (whole->room < 0) {
		dlsi_free(alloc, whole);
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot make a descriptor for the data plane");
	}
	*whole_out = whole;
	return 0;
}

struct dlsi_backlog *dlsi_backlog_of_peer(struct dlsi_backlog *whole)
{
	struct dlsi_backlog *peer = create(whole->alloc);

	if (!peer)
		return NULL;
	peer->whole = whole;
	atomic_fetch_add_explicit(&whole->references, 1, memory_order_relaxed);
	return peer;
}

void dlsi_backlog_unref(struct dlsi_backlog *backlog)
{
	if (!backlog || atomic_fetch_sub_explicit(&backlog->references, 1, memory_order_acq_rel) > 1)
		return;
	dlsi_backlog_unref(backlog->whole);
	if (backlog->room >= 0)
		close(backlog->room);
	dlsi_free(backlog->alloc, backlog);
}

bool dlsi_backlog_has_room(const struct dlsi_backlog *peer, size_t length)
{
	size_t own = peer->bytes, all = peer->whole->bytes;

	if (own == 0)
		return all + length <= DLSI_SERVED_BYTES;
	return own + length <= DLSI_SERVED_PEER_BYTES && all + length <= DLSI_SERVED_BYTES / 2;
}

static void leave(struct dlsi_backlog *peer, size_t length)
{
	const uint64_t one = 1;
	size_t own = atomic_fetch_sub(&peer->bytes, length) - length,
	       all = atomic_fetch_sub(&peer->whole->bytes, length);

	/* Half of a peer's room at a time, so that a busy one does not cost a wake-up for each of its messages. */
	if (own > DLSI_SERVED_PEER_BYTES / 2 && all <= DLSI_SERVED_BYTES / 2)
		return;
	if (!peer->whole->asked || !atomic_exchange(&peer->whole->asked, false))
		return;
	while (write(peer->whole->room, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void release(void *arg, const void *data)
{
	struct counted *counted = arg;

	(void)data;
	leave(counted->peer, dlsi_frame_size(counted->frame));
	dlsi_frame_unref(counted->frame);
	dlsi_backlog_unref(counted->peer);
	dlsi_free(counted->alloc, counted);
}

struct dlsi_frame *dlsi_backlog_count(struct dlsi_backlog *peer, struct dlsi_frame *frame)
{
	size_t length = dlsi_frame_size(frame);
	struct counted *counted = dlsi_malloc(peer->alloc, sizeof *counted);
	struct dlsi_frame *view =
		counted ? dlsi_frame_lend(peer->alloc, dlsi_frame_data(frame), length, release, counted) : NULL;

	if (!view) {
		dlsi_free(peer->alloc, counted);
		return NULL;
	}
	*counted = (struct counted){.peer = peer, .frame = dlsi_frame_ref(frame), .alloc = peer->alloc};
	atomic_fetch_add_explicit(&peer->references, 1, memory_order_relaxed);
	peer->bytes += length;
	peer->whole->bytes += length;
	return view;
}

int dlsi_backlog_descriptor(const struct dlsi_backlog *whole)
{
	return whole->room;
}

void dlsi_backlog_ask(struct dlsi_backlog *whole)
{
	uint64_t count;

	while (read(whole->room, &count, sizeof count) < 0 && errno == EINTR)
		;
	whole->asked = true;
}
