/* What this process offers to readers: blobs by name, tokens that open them, and where their bytes are.
 *
 * A name is found only together with a token, by the hash of both, so that the time a look-up takes tells nothing of a
 * token. At most DLSI_BLOBS_OFFERED pairs. Any thread. */
#ifndef DLSI_OFFER_H
#define DLSI_OFFER_H

#include "base/error.h"
#include "net/frame.h"
#include "proto/record.h"

/* Where the bytes of a blob are: a frame, of which a reference is kept, or a range of a file that begins at `offset`.
 */
struct dlsi_source {
	struct dlsi_frame *frame;
	const char *path; /* if there is no frame; copied */
	uint64_t offset;
};

struct dlsi_offers;

int dlsi_offers_create(const struct dlsi_alloc *alloc, struct dlsi_offers **offers_out, struct dls_error *err);

/* NULL is allowed. Offers that are still open stay until they are released. */
void dlsi_offers_destroy(struct dlsi_offers *offers);

/* Counted: the same blob with several tokens, and with one token several times; the first source is used for all.
 * Errors: DLS_EINVAL (the source is shorter than the blob), DLS_EEXISTS (another blob has this name), DLS_EIO,
 * DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_offers_add(struct dlsi_offers *offers, const struct dlsi_id *token, const struct dlsi_blob *blob,
	const struct dlsi_source *source, struct dls_error *err);

/* Takes back one of them; an unknown one is ignored. */
void dlsi_offers_remove(struct dlsi_offers *offers, const struct dlsi_id *token, const struct dlsi_hash *name);

/* A blob that can be read, also after it was removed. */
struct dlsi_offer;

/* Errors: DLS_ENOTFOUND, DLS_EDENIED (the blob is here, but not for this token). */
int dlsi_offers_open(struct dlsi_offers *offers, const struct dlsi_id *token, const struct dlsi_hash *name,
	struct dlsi_offer **offer_out, struct dls_error *err);
void dlsi_offer_release(struct dlsi_offer *offer);

/* Bytes that readers in other processes have been given, and adds to them. */
uint64_t dlsi_offers_given(const struct dlsi_offers *offers);
void dlsi_offers_count(struct dlsi_offers *offers, uint64_t bytes);

uint64_t dlsi_offer_length(const struct dlsi_offer *offer);
bool dlsi_offer_is_in_memory(const struct dlsi_offer *offer);

/* `length` bytes from `offset` on: of memory a part without a copy, of a file what is read now.
 * Errors: DLS_EINVAL (they are not within the blob), DLS_EIO (the file is gone, shorter, or unreadable), DLS_ENOMEM. */
int dlsi_offer_read(
	struct dlsi_offer *offer, uint64_t offset, size_t length, struct dlsi_frame **frame_out, struct dls_error *err);

#endif
