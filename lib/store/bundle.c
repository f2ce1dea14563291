#include "store/bundle.h"

#include "base/file.h"
#include "proto/bytes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x42534c44U  /* "DLSB" */
#define MODEL "model.onnx" /* the file that must be in every bundle */

static int create(const struct dlsi_alloc *alloc, struct dlsi_bundle *bundle, struct dls_error *err)
{
	*bundle = (struct dlsi_bundle){.alloc = alloc};
	bundle->files = dlsi_calloc(alloc, DLSI_BUNDLE_FILES, sizeof *bundle->files);
	return bundle->files ? 0 : dlsi_fail_memory(err);
}

void dlsi_bundle_fini(struct dlsi_bundle *bundle)
{
	dlsi_free(bundle->alloc, bundle->files);
	dlsi_free(bundle->alloc, bundle->bytes);
	*bundle = (struct dlsi_bundle){.alloc = bundle->alloc};
}

const struct dlsi_bundle_file *dlsi_bundle_find(const struct dlsi_bundle *bundle, const char *name)
{
	for (unsigned i = 0; i < bundle->count; i++)
		if (strcmp(bundle->files[i].name, name) == 0)
			return &bundle->files[i];
	return NULL;
}

/* ---- reading a folder */

static int add_file(struct dlsi_bundle *bundle, const struct dlsi_bundle_source *source, struct dls_error *err)
{
	struct dlsi_bundle_file *file = &bundle->files[bundle->count];
	size_t length = strlen(source->name);

	if (!dlsi_file_is_plain_name(source->name, length))
		return dlsi_fail(err, DLS_EINVAL,
			"%s cannot be sent as '%s': names of files have only A-Z a-z 0-9 . _ -", source->path,
			source->name);
	memcpy(file->name, source->name, length + 1);
	bundle->count++;
	return dlsi_file_hash(source->path, DLSI_MODEL_FILE_BYTES, &file->hash, &file->length, err);
}

static int compare(const void *left, const void *right)
{
	return strcmp(((const struct dlsi_bundle_file *)left)->name, ((const struct dlsi_bundle_file *)right)->name);
}

static int encode(struct dlsi_bundle *bundle, struct dls_error *err)
{
	struct dlsi_buffer buffer;

	dlsi_buffer_init(&buffer, bundle->alloc);
	dlsi_write_u32(&buffer, MAGIC);
	dlsi_write_u32(&buffer, bundle->count);
	for (unsigned i = 0; i < bundle->count; i++) {
		const struct dlsi_bundle_file *file = &bundle->files[i];

		dlsi_write_u8(&buffer, (uint8_t)strlen(file->name));
		dlsi_buffer_append(&buffer, file->name, strlen(file->name));
		dlsi_write_u64(&buffer, file->length);
		dlsi_write_hash(&buffer, &file->hash);
	}
	if (buffer.failed) {
		dlsi_buffer_fini(&buffer);
		return dlsi_fail_memory(err);
	}
	bundle->bytes = dlsi_buffer_take(&buffer, &bundle->length);
	bundle->id = dlsi_hash_of(bundle->bytes, bundle->length);
	return 0;
}

int dlsi_bundle_read(const struct dlsi_alloc *alloc, const struct dlsi_bundle_source *sources, size_t count,
	struct dlsi_bundle *bundle_out, struct dls_error *err)
{
	struct dlsi_bundle bundle;
	int rc;

	if (count > DLSI_BUNDLE_FILES)
		return dlsi_fail(err, DLS_ELIMIT, "a model of %zu files; %d are the limit", count, DLSI_BUNDLE_FILES);
	rc = create(alloc, &bundle, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_file(&bundle, &sources[i], err);
	if (rc == 0) {
		qsort(bundle.files, bundle.count, sizeof *bundle.files, compare);
		rc = encode(&bundle, err);
	}
	if (rc == 0)
		*bundle_out = bundle;
	else
		dlsi_bundle_fini(&bundle);
	return rc;
}

/* ---- decoding */

/* Reads the next file of the list; it is not good unless its name may stand behind `before`. */
static void read_file(struct dlsi_reader *reader, const char *before, struct dlsi_bundle_file *file)
{
	uint8_t length = dlsi_read_u8(reader);
	const char *name = (const char *)reader->at;

	if (length > (size_t)(reader->end - reader->at) || !dlsi_file_is_plain_name(name, length)) {
		reader->good = false;
		return;
	}
	reader->at += length;
	memcpy(file->name, name, length);
	file->length = dlsi_read_u64(reader);
	file->hash = dlsi_read_hash(reader);
	reader->good &= file->length <= DLSI_MODEL_FILE_BYTES && (!before || strcmp(before, file->name) < 0);
}

int dlsi_bundle_decode(const struct dlsi_alloc *alloc, const uint8_t *data, size_t length,
	struct dlsi_bundle *bundle_out, struct dls_error *err)
{
	struct dlsi_reader reader = {data, data + length, true};
	uint32_t magic = dlsi_read_u32(&reader), count = dlsi_read_u32(&reader);
	struct dlsi_bundle bundle;
	int rc;

	if (!reader.good || magic != MAGIC)
		return dlsi_fail(err, DLS_EFORMAT, "%zu bytes that are not the list of a model's files", length);
	if (count > DLSI_BUNDLE_FILES)
		return dlsi_fail(
			err, DLS_ELIMIT, "a model of %" PRIu32 " files; %d are the limit", count, DLSI_BUNDLE_FILES);
	rc = create(alloc, &bundle, err);
	if (rc)
		return rc;
	for (; rc == 0 && bundle.count < count; bundle.count++) {
		const char *before = bundle.count ? bundle.files[bundle.count - 1].name : NULL;

		read_file(&reader, before, &bundle.files[bundle.count]);
		if (!reader.good)
			rc = dlsi_fail(
				err, DLS_EFORMAT, "entry %u of a model's list of files is malformed", bundle.count);
	}
	if (rc == 0 && reader.at != reader.end)
		rc = dlsi_fail(err, DLS_EFORMAT, "a model's list of files is longer than its entries");
	if (rc == 0 && !dlsi_bundle_find(&bundle, MODEL))
		rc = dlsi_fail(err, DLS_EFORMAT, "a model's list of files has no " MODEL);
	if (rc == 0)
		rc = encode(&bundle, err);
	if (rc == 0)
		*bundle_out = bundle;
	else
		dlsi_bundle_fini(&bundle);
	return rc;
}
