#include "net/offer.h"

#include "base/limits.h"
#include "base/list.h"
#include "base/map.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dlsi_offer {
	atomic_size_t references; /* of those who read it, and one of the table while it has grants */
	size_t grants;
	struct dlsi_blob blob;
	struct dlsi_frame *frame;
	char *path;
	uint64_t offset; /* in the file */
	const struct dlsi_alloc *alloc;
};

/* A token that opens a blob. */
struct grant {
	struct dlsi_list node; /* in offers->all */
	struct dlsi_id key;
	size_t count;
	struct dlsi_offer *offer;
};

struct dlsi_offers {
	pthread_mutex_t lock;
	struct dlsi_list all;   /* grants */
	struct dlsi_map grants; /* by token and name */
	struct dlsi_map offers; /* by name */
	atomic_ullong given;
	const struct dlsi_alloc *alloc;
};

int dlsi_offers_create(const struct dlsi_alloc *alloc, struct dlsi_offers **offers_out, struct dls_error *err)
{
	struct dlsi_offers *offers = dlsi_malloc(alloc, sizeof *offers);

	if (!offers)
		return dlsi_fail_memory(err);
	offers->alloc = alloc;
	atomic_init(&offers->given, 0);
	pthread_mutex_init(&offers->lock, NULL);
	dlsi_list_init(&offers->all);
	dlsi_map_init(&offers->grants, alloc, dlsi_random_u64());
	dlsi_map_init(&offers->offers, alloc, dlsi_random_u64());
	*offers_out = offers;
	return 0;
}

static void destroy_offer(struct dlsi_offer *offer)
{
	dlsi_frame_unref(offer->frame);
	dlsi_free(offer->alloc, offer->path);
	dlsi_free(offer->alloc, offer);
}

void dlsi_offer_release(struct dlsi_offer *offer)
{
	if (atomic_fetch_sub_explicit(&offer->references, 1, memory_order_acq_rel) == 1)
		destroy_offer(offer);
}

/* The key of half a name: other blobs whose names begin alike are refused. */
static struct dlsi_id name_key(const struct dlsi_hash *name)
{
	struct dlsi_id key;

	memcpy(key.bytes, name->bytes, sizeof key.bytes);
	return key;
}

static struct dlsi_id grant_key(const struct dlsi_id *token, const struct dlsi_hash *name)
{
	struct dlsi_hash_state state;
	struct dlsi_hash hash;

	dlsi_hash_init(&state);
	dlsi_hash_update(&state, token->bytes, sizeof token->bytes);
	dlsi_hash_update(&state, name->bytes, sizeof name->bytes);
	dlsi_hash_final(&state, &hash);
	return name_key(&hash);
}

/* Drops a grant whose count is zero, and with the last grant the offer. */
static void drop_grant(struct dlsi_offers *offers, struct grant *grant)
{
	struct dlsi_offer *offer = grant->offer;
	struct dlsi_id key = name_key(&offer->blob.name);

	dlsi_list_remove(&grant->node);
	dlsi_map_remove(&offers->grants, &grant->key);
	dlsi_free(offers->alloc, grant);
	if (--offer->grants)
		return;
	dlsi_map_remove(&offers->offers, &key);
	dlsi_offer_release(offer);
}

void dlsi_offers_destroy(struct dlsi_offers *offers)
{
	if (!offers)
		return;
	dlsi_list_each (node, &offers->all)
		drop_grant(offers, dlsi_list_entry(node, struct grant, node));
	dlsi_map_fini(&offers->grants);
	dlsi_map_fini(&offers->offers);
	pthread_mutex_destroy(&offers->lock);
	dlsi_free(offers->alloc, offers);
}

static int check_source(const struct dlsi_blob *blob, const struct dlsi_source *source, struct dls_error *err)
{
	struct stat status;
	uint64_t end;

	if (source->frame) {
		if (blob->length > dlsi_frame_size(source->frame))
			return dlsi_fail(err, DLS_EINVAL, "a blob of %" PRIu64 " bytes is offered from memory of %zu",
				blob->length, dlsi_frame_size(source->frame));
		return 0;
	}
	if (stat(source->path, &status))
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot offer %s", source->path);
	if (__builtin_add_overflow(source->offset, blob->length, &end) || end > (uint64_t)status.st_size)
		return dlsi_fail(err, DLS_EINVAL, "%s has %" PRIu64 " bytes, fewer than are offered of it",
			source->path, (uint64_t)status.st_size);
	return 0;
}

static struct dlsi_offer *create_offer(
	const struct dlsi_alloc *alloc, const struct dlsi_blob *blob, const struct dlsi_source *source)
{
	struct dlsi_offer *offer = dlsi_calloc(alloc, 1, sizeof *offer);

	if (!offer)
		return NULL;
	offer->alloc = alloc;
	offer->blob = *blob;
	offer->offset = source->offset;
	atomic_init(&offer->references, 1);
	if (source->frame)
		offer->frame = dlsi_frame_ref(source->frame);
	else
		offer->path = dlsi_strdup(alloc, source->path);
	if (offer->frame || offer->path)
		return offer;
	destroy_offer(offer);
	return NULL;
}

/* The offer of this name, made if there is none; it has one grant more to come. */
static int find_or_create(struct dlsi_offers *offers, const struct dlsi_blob *blob, const struct dlsi_source *source,
	struct dlsi_offer **offer_out, struct dls_error *err)
{
	struct dlsi_id key = name_key(&blob->name);
	struct dlsi_offer *offer = dlsi_map_get(&offers->offers, &key);

	if (offer && (!dlsi_hash_equal(&offer->blob.name, &blob->name) || offer->blob.length != blob->length))
		return dlsi_fail(err, DLS_EEXISTS, "another blob of this name is offered already");
	if (!offer) {
		offer = create_offer(offers->alloc, blob, source);
		if (!offer)
			return dlsi_fail_memory(err);
		if (dlsi_map_put(&offers->offers, &key, offer)) {
			destroy_offer(offer);
			return dlsi_fail_memory(err);
		}
	}
	*offer_out = offer;
	return 0;
}

/* Lets a token open the blob. On failure nothing has changed. */
static int add_grant(struct dlsi_offers *offers, const struct dlsi_id *key, const struct dlsi_blob *blob,
	const struct dlsi_source *source, struct dls_error *err)
{
	struct grant *grant;
	int rc;

	if (offers->grants.count == DLSI_BLOBS_OFFERED)
		return dlsi_fail(err, DLS_ELIMIT, "more than %d blobs are offered at once", DLSI_BLOBS_OFFERED);
	grant = dlsi_malloc(offers->alloc, sizeof *grant);
	if (!grant || dlsi_map_put(&offers->grants, key, grant)) {
		dlsi_free(offers->alloc, grant);
		return dlsi_fail_memory(err);
	}
	*grant = (struct grant){.key = *key, .count = 1};
	rc = find_or_create(offers, blob, source, &grant->offer, err);
	if (rc) {
		dlsi_map_remove(&offers->grants, key);
		dlsi_free(offers->alloc, grant);
		return rc;
	}
	grant->offer->grants++;
	dlsi_list_append(&offers->all, &grant->node);
	return 0;
}

int dlsi_offers_add(struct dlsi_offers *offers, const struct dlsi_id *token, const struct dlsi_blob *blob,
	const struct dlsi_source *source, struct dls_error *err)
{
	struct dlsi_id key = grant_key(token, &blob->name);
	struct grant *grant;
	int rc = check_source(blob, source, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&offers->lock);
	grant = dlsi_map_get(&offers->grants, &key);
	if (!grant)
		rc = add_grant(offers, &key, blob, source, err);
	else if (grant->offer->blob.length == blob->length)
		grant->count++;
	else
		rc = dlsi_fail(err, DLS_EEXISTS, "another blob of this name is offered already");
	pthread_mutex_unlock(&offers->lock);
	return rc;
}

void dlsi_offers_remove(struct dlsi_offers *offers, const struct dlsi_id *token, const struct dlsi_hash *name)
{
	struct dlsi_id key = grant_key(token, name);
	struct grant *grant;

	pthread_mutex_lock(&offers->lock);
	grant = dlsi_map_get(&offers->grants, &key);
	if (grant && --grant->count == 0)
		drop_grant(offers, grant);
	pthread_mutex_unlock(&offers->lock);
}

int dlsi_offers_open(struct dlsi_offers *offers, const struct dlsi_id *token, const struct dlsi_hash *name,
	struct dlsi_offer **offer_out, struct dls_error *err)
{
	struct dlsi_id by_grant = grant_key(token, name), by_name = name_key(name);
	const struct grant *grant;
	int rc = 0;

	pthread_mutex_lock(&offers->lock);
	grant = dlsi_map_get(&offers->grants, &by_grant);
	if (grant) {
		atomic_fetch_add_explicit(&grant->offer->references, 1, memory_order_relaxed);
		*offer_out = grant->offer;
	} else if (dlsi_map_get(&offers->offers, &by_name)) {
		rc = dlsi_fail(err, DLS_EDENIED, "the token does not open this blob");
	} else {
		rc = dlsi_fail(err, DLS_ENOTFOUND, "no such blob is offered; its job may have ended");
	}
	pthread_mutex_unlock(&offers->lock);
	return rc;
}

uint64_t dlsi_offers_given(const struct dlsi_offers *offers)
{
	return atomic_load_explicit(&offers->given, memory_order_relaxed);
}

void dlsi_offers_count(struct dlsi_offers *offers, uint64_t bytes)
{
	atomic_fetch_add_explicit(&offers->given, bytes, memory_order_relaxed);
}

uint64_t dlsi_offer_length(const struct dlsi_offer *offer)
{
	return offer->blob.length;
}

bool dlsi_offer_is_in_memory(const struct dlsi_offer *offer)
{
	return offer->frame != NULL;
}

static int read_file(const char *path, uint64_t offset, uint8_t *bytes_out, size_t length, struct dls_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	size_t done = 0;

	if (fd < 0)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot open %s", path);
	while (rc == 0 && done < length) {
		ssize_t got = pread(fd, bytes_out + done, length - done, (off_t)(offset + done));

		if (got > 0)
			done += (size_t)got;
		else if (got == 0)
			rc = dlsi_fail(err, DLS_EIO, "%s became shorter since it was offered", path);
		else if (errno != EINTR)
			rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot read %s", path);
	}
	close(fd);
	return rc;
}

int dlsi_offer_read(
	struct dlsi_offer *offer, uint64_t offset, size_t length, struct dlsi_frame **frame_out, struct dls_error *err)
{
	struct dlsi_frame *frame;
	uint8_t *bytes;
	int rc;

	if (offset > offer->blob.length || length > offer->blob.length - offset)
		return dlsi_fail(err, DLS_EINVAL, "%zu bytes from %" PRIu64 " on are not within a blob of %" PRIu64,
			length, offset, offer->blob.length);
	if (offer->frame) {
		frame = dlsi_frame_part(offer->frame, (size_t)offset, length);
		if (frame)
			*frame_out = frame;
		return frame ? 0 : dlsi_fail_memory(err);
	}
	frame = dlsi_frame_make(offer->alloc, length, &bytes);
	if (!frame)
		return dlsi_fail_memory(err);
	rc = read_file(offer->path, offer->offset + offset, bytes, length, err);
	if (rc)
		dlsi_frame_unref(frame);
	else
		*frame_out = frame;
	return rc;
}
