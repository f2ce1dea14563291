/* A model folder as it travels: the sorted list of its files with their lengths and hashes. The hash of the list's
 * bytes is the model's id, so that whoever has the id can check all the rest.
 *
 *   "DLSB", u32 files, then for each: u8 length of the name, name, u64 length, hash
 *
 * Names are plain (dlsi_file_is_plain_name) and come in strictly
 * rising order of their bytes. model.onnx must be there. */
#ifndef DLSI_BUNDLE_H
#define DLSI_BUNDLE_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include <stdint.h>

struct dlsi_bundle_file {
	char name[DLSI_BUNDLE_NAME_BYTES + 1];
	uint64_t length;
	struct dlsi_hash hash;
};

struct dlsi_bundle {
	struct dlsi_bundle_file *files;
	unsigned count;
	struct dlsi_hash id;
	uint8_t *bytes; /* the list as it travels */
	size_t length;
	const struct dlsi_alloc *alloc;
};

/* Most bytes of an encoded bundle. */
#define DLSI_BUNDLE_BYTES (8 + DLSI_BUNDLE_FILES * (1 + DLSI_BUNDLE_NAME_BYTES + 8 + DLSI_HASH_BYTES))

/* A file that a bundle is to be made of: its name in the bundle, and where it is. */
struct dlsi_bundle_source {
	const char *name;
	char *path;
};

/* Hashes these files, model.onnx among them and none twice, which takes time. Errors: DLS_ENOTFOUND, DLS_EINVAL (a name
 * or a kind of file that cannot travel), DLS_ELIMIT, DLS_EIO, DLS_ENOMEM; each names the file. */
int dlsi_bundle_read(const struct dlsi_alloc *alloc, const struct dlsi_bundle_source *sources, size_t count,
	struct dlsi_bundle *bundle_out, struct dls_error *err);

/* Decodes a list and checks all that it says. Errors: DLS_EFORMAT, DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_bundle_decode(const struct dlsi_alloc *alloc, const uint8_t *data, size_t length,
	struct dlsi_bundle *bundle_out, struct dls_error *err);

void dlsi_bundle_fini(struct dlsi_bundle *bundle);

/* The file of this name, NULL if there is none. */
const struct dlsi_bundle_file *dlsi_bundle_find(const struct dlsi_bundle *bundle, const char *name);

#endif
