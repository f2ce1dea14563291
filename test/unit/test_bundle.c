/* Bundles: a folder's list comes back from its bytes, the id depends on all that is in it, and lists that are none are
 * refused. */
#include "base/file.h"
#include "proto/bytes.h"
#include "store/bundle.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[128];

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	assert_int_equal(dlsi_file_write(unit_alloc(), path_of(name), 0600, text, strlen(text), NULL), 0);
}

/* A model folder with what must be in it. */
static void make_folder(void)
{
	snprintf(folder, sizeof folder, "%s", unit_folder());
	write_file("model.onnx", "weights");
	write_file("model.json", "{}");
}

/* dlsi_bundle_read of these files, to NULL. */
static int try_files(
	const struct dlsi_alloc *alloc, const char *const *names, struct dlsi_bundle *bundle_out, struct dls_error *err)
{
	static struct dlsi_bundle_source sources[DLSI_BUNDLE_FILES + 1];
	size_t count = 0;
	int rc;

	for (; names[count]; count++) {
		sources[count] = (struct dlsi_bundle_source){names[count], strdup(path_of(names[count]))};
		assert_non_null(sources[count].path);
	}
	rc = dlsi_bundle_read(alloc, sources, count, bundle_out, err);
	while (count)
		free(sources[--count].path);
	return rc;
}

static struct dlsi_bundle read_files(const char *const *names)
{
	struct dlsi_bundle bundle;
	struct dls_error err = {0};

	if (try_files(unit_alloc(), names, &bundle, &err))
		fail_msg("%s", err.text);
	return bundle;
}

static struct dlsi_bundle read_folder(void)
{
	return read_files((const char *const[]){"model.onnx", "model.json", NULL});
}

static void test_folder_comes_back(void **state)
{
	struct dlsi_bundle bundle, decoded;
	struct dlsi_hash hash = dlsi_hash_of("weights", 7);

	(void)state;
	make_folder();
	write_file("labels.txt", "cat\ndog\n");
	write_file("Weights-2.bin", "");
	write_file("another", "left out");
	bundle = read_files((const char *const[]){"model.onnx", "model.json", "labels.txt", "Weights-2.bin", NULL});
	assert_int_equal(bundle.count, 4);
	assert_string_equal(bundle.files[0].name, "Weights-2.bin"); /* by the order of bytes */
	assert_string_equal(bundle.files[1].name, "labels.txt");
	assert_string_equal(bundle.files[2].name, "model.json");
	assert_string_equal(bundle.files[3].name, "model.onnx");
	assert_int_equal(bundle.files[3].length, 7);
	assert_true(dlsi_hash_equal(&bundle.files[3].hash, &hash));
	assert_ptr_equal(dlsi_bundle_find(&bundle, "labels.txt"), &bundle.files[1]);
	assert_null(dlsi_bundle_find(&bundle, "labels"));
	hash = dlsi_hash_of(bundle.bytes, bundle.length);
	assert_true(dlsi_hash_equal(&bundle.id, &hash));
	assert_true(bundle.length <= DLSI_BUNDLE_BYTES);
	assert_int_equal(dlsi_bundle_decode(unit_alloc(), bundle.bytes, bundle.length, &decoded, NULL), 0);
	assert_true(dlsi_hash_equal(&decoded.id, &bundle.id));
	assert_int_equal(decoded.count, bundle.count);
	assert_memory_equal(decoded.files, bundle.files, bundle.count * sizeof *bundle.files);
	dlsi_bundle_fini(&decoded);
	dlsi_bundle_fini(&bundle);
}

static void assert_id_changes(struct dlsi_hash *id, const char *third)
{
	struct dlsi_bundle bundle = read_files((const char *const[]){"model.onnx", "model.json", third, NULL});

	assert_false(dlsi_hash_equal(id, &bundle.id));
	*id = bundle.id;
	dlsi_bundle_fini(&bundle);
}

static void test_id_depends_on_everything(void **state)
{
	struct dlsi_hash id = {{0}};

	(void)state;
	make_folder();
	assert_id_changes(&id, NULL);
	write_file("model.onnx", "weightz");
	assert_id_changes(&id, NULL);
	write_file("a", "");
	assert_id_changes(&id, "a");
	write_file("b", "");
	assert_id_changes(&id, "b");
	write_file("b", " ");
	assert_id_changes(&id, "b");
}

static void assert_refused(int code, const char *name, const char *word)
{
	struct dlsi_bundle bundle = {0};
	struct dls_error err;

	assert_int_equal(try_files(unit_alloc(), (const char *const[]){"model.onnx", name, NULL}, &bundle, &err), code);
	assert_null(bundle.files);
	if (!strstr(err.text, word))
		fail_msg("%s", err.text);
}

static void test_files_that_cannot_travel(void **state)
{
	static const char *many[DLSI_BUNDLE_FILES + 2];
	struct dlsi_bundle bundle = {0};

	(void)state;
	make_folder();
	write_file("with space", "");
	assert_refused(DLS_EINVAL, "with space", "with space");
	assert_refused(DLS_EINVAL, "../model.onnx", "../model.onnx");
	assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
	assert_refused(DLS_EINVAL, "pipe", "pipe");
	assert_int_equal(mkdir(path_of("folder"), 0700), 0);
	assert_refused(DLS_EINVAL, "folder", "folder");
	assert_refused(DLS_ENOTFOUND, "nowhere", "nowhere");
	for (size_t i = 0; i <= DLSI_BUNDLE_FILES; i++)
		many[i] = "model.onnx";
	assert_int_equal(try_files(unit_alloc(), many, &bundle, NULL), DLS_ELIMIT);
}

/* A file may be called otherwise where it is, also as it could not travel. */
static void test_names_are_those_of_the_bundle(void **state)
{
	struct dlsi_bundle_source source = {"model.onnx", NULL};
	struct dlsi_bundle renamed, expected;

	(void)state;
	make_folder();
	write_file("my net", "weights");
	source.path = strdup(path_of("my net"));
	assert_int_equal(dlsi_bundle_read(unit_alloc(), &source, 1, &renamed, NULL), 0);
	free(source.path);
	expected = read_files((const char *const[]){"model.onnx", NULL});
	assert_int_equal(renamed.length, expected.length);
	assert_memory_equal(renamed.bytes, expected.bytes, expected.length);
	dlsi_bundle_fini(&renamed);
	dlsi_bundle_fini(&expected);
}

/* Decodes a list with these names. */
static int decode_names(const char *const *names, unsigned count)
{
	struct dlsi_bundle bundle = {0};
	struct dlsi_buffer buffer;
	int rc;

	dlsi_buffer_init(&buffer, unit_alloc());
	dlsi_buffer_append(&buffer, "DLSB", 4);
	dlsi_write_u32(&buffer, count);
	for (unsigned i = 0; i < count; i++) {
		static const uint8_t rest[8 + DLSI_HASH_BYTES] = {1};

		dlsi_write_u8(&buffer, (uint8_t)strlen(names[i]));
		dlsi_buffer_append(&buffer, names[i], strlen(names[i]));
		dlsi_buffer_append(&buffer, rest, sizeof rest);
	}
	rc = dlsi_bundle_decode(unit_alloc(), buffer.data, buffer.length, &bundle, NULL);
	dlsi_buffer_fini(&buffer);
	if (rc)
		assert_null(bundle.files);
	else
		dlsi_bundle_fini(&bundle);
	return rc;
}

static void test_names_that_would_leave_the_folder(void **state)
{
	static const char *const bad[] = {
		"", ".", "..", "../x", "/etc/passwd", "a/b", ".hidden", "a b", "a\nb", "\xc3\xa4", "a\\b"};

	(void)state;
	assert_int_equal(decode_names((const char *[]){"model.json", "model.onnx"}, 2), 0);
	assert_int_equal(decode_names((const char *[]){"model.onnx"}, 1), 0);
	assert_int_equal(decode_names((const char *[]){"A..b", "model.json", "model.onnx"}, 3), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(decode_names((const char *[]){"model.json", "model.onnx", bad[i]}, 3), DLS_EFORMAT);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(decode_names((const char *[]){bad[i], "model.json", "model.onnx"}, 3), DLS_EFORMAT);
	assert_int_equal(decode_names((const char *[]){"model.onnx", "model.json"}, 2), DLS_EFORMAT);
	assert_int_equal(decode_names((const char *[]){"model.json", "model.json", "model.onnx"}, 3), DLS_EFORMAT);
	assert_int_equal(decode_names((const char *[]){"labels.txt", "model.json"}, 2), DLS_EFORMAT);
	assert_int_equal(decode_names(NULL, 0), DLS_EFORMAT);
}

static void test_truncated_lengthened_and_damaged(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_bundle bundle, decoded;

	(void)state;
	make_folder();
	bundle = read_folder();
	for (size_t length = 0; length <= bundle.length + 1; length++) {
		uint8_t *exact = test_calloc(1, length);

		memcpy(exact, bundle.bytes, length < bundle.length ? length : bundle.length);
		if (length != bundle.length)
			assert_int_equal(dlsi_bundle_decode(unit_alloc(), exact, length, &decoded, NULL), DLS_EFORMAT);
		test_free(exact);
	}
	for (size_t i = 0; i < bundle.length; i++) {
		uint8_t kept = bundle.bytes[i];

		bundle.bytes[i] ^= (uint8_t)(1 + dlsi_rng_below(&rng, 255));
		if (dlsi_bundle_decode(unit_alloc(), bundle.bytes, bundle.length, &decoded, NULL) == 0) {
			assert_false(dlsi_hash_equal(&decoded.id, &bundle.id));
			dlsi_bundle_fini(&decoded);
		}
		bundle.bytes[i] = kept;
	}
	memset(bundle.bytes + 4, 0xff, 4);
	assert_int_equal(dlsi_bundle_decode(unit_alloc(), bundle.bytes, bundle.length, &decoded, NULL), DLS_ELIMIT);
	dlsi_bundle_fini(&bundle);
}

static void test_memory_runs_out(void **state)
{
	struct dlsi_bundle bundle, decoded;
	int rc = DLS_ENOMEM;
	unsigned n;

	(void)state;
	make_folder();
	for (n = 1; rc; n++) {
		rc = try_files(unit_alloc_failing_at(n), (const char *const[]){"model.onnx", "model.json", NULL},
			&bundle, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	}
	assert_true(n > 4);
	rc = DLS_ENOMEM;
	for (n = 1; rc; n++) {
		rc = dlsi_bundle_decode(unit_alloc_failing_at(n), bundle.bytes, bundle.length, &decoded, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	}
	assert_true(n > 2);
	dlsi_bundle_fini(&decoded);
	dlsi_bundle_fini(&bundle);
}

UNIT_MAIN(test_folder_comes_back, test_id_depends_on_everything, test_files_that_cannot_travel,
	test_names_are_those_of_the_bundle, test_names_that_would_leave_the_folder,
	test_truncated_lengthened_and_damaged, test_memory_runs_out)
