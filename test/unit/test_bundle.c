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

static struct dlsi_bundle read_folder(void)
{
	struct dlsi_bundle bundle;
	struct dls_error err = {0};

	if (dlsi_bundle_read(unit_alloc(), folder, &bundle, &err))
		fail_msg("%s", err.text);
	return bundle;
}

static void test_folder_comes_back(void **state)
{
	struct dlsi_bundle bundle, decoded;
	struct dlsi_hash hash = dlsi_hash_of("weights", 7);

	(void)state;
	make_folder();
	write_file("labels.txt", "cat\ndog\n");
	write_file("Weights-2.bin", "");
	write_file(".hidden", "left out");
	mkdir(path_of("test_data_set_0"), 0700);
	bundle = read_folder();
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

static void assert_id_changes(struct dlsi_hash *id)
{
	struct dlsi_bundle bundle = read_folder();

	assert_false(dlsi_hash_equal(id, &bundle.id));
	*id = bundle.id;
	dlsi_bundle_fini(&bundle);
}

static void test_id_depends_on_everything(void **state)
{
	struct dlsi_hash id = {{0}};

	(void)state;
	make_folder();
	assert_id_changes(&id);
	write_file("model.onnx", "weightz");
	assert_id_changes(&id);
	write_file("a", "");
	assert_id_changes(&id);
	unlink(path_of("a"));
	write_file("b", "");
	assert_id_changes(&id);
	write_file(".dot", "but not on this");
	write_file("b", " ");
	assert_id_changes(&id);
}

static void assert_refused(int code, const char *word)
{
	struct dlsi_bundle bundle = {0};
	struct dls_error err;

	assert_int_equal(dlsi_bundle_read(unit_alloc(), folder, &bundle, &err), code);
	assert_null(bundle.files);
	if (!strstr(err.text, word))
		fail_msg("%s", err.text);
}

static void test_what_is_no_model_folder(void **state)
{
	char text[100];

	(void)state;
	make_folder();
	write_file("with space", "");
	assert_refused(DLS_EINVAL, "with space");
	unlink(path_of("with space"));
	assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
	assert_refused(DLS_EINVAL, "pipe");
	unlink(path_of("pipe"));
	assert_int_equal(symlink("nowhere", path_of("link")), 0);
	assert_refused(DLS_EIO, "link");
	unlink(path_of("link"));
	for (int i = 2; i < DLSI_BUNDLE_FILES; i++) {
		snprintf(text, sizeof text, "extra-%d", i);
		write_file(text, text);
	}
	{
		struct dlsi_bundle bundle = read_folder();

		assert_int_equal(bundle.count, DLSI_BUNDLE_FILES);
		dlsi_bundle_fini(&bundle);
	}
	write_file("one-more", "");
	assert_refused(DLS_ELIMIT, "more than 64 files");
	unlink(path_of("one-more"));
	unlink(path_of("model.onnx"));
	assert_refused(DLS_ENOTFOUND, "has no model.onnx");
	snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/model.json-not");
	assert_refused(DLS_ENOTFOUND, "model.json-not");
}

/* Whatever its name is, also one that could not travel. */
static void test_a_file_alone_is_the_model(void **state)
{
	struct dlsi_bundle alone, expected;
	char *path;

	(void)state;
	make_folder();
	unlink(path_of("model.json"));
	expected = read_folder();
	path = dlsi_bundle_path(unit_alloc(), folder, "model.onnx");
	assert_string_equal(path, path_of("model.onnx"));
	dlsi_free(unit_alloc(), path);
	unlink(path_of("model.onnx"));
	write_file("my net", "weights");
	snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "/my net");
	alone = read_folder();
	assert_int_equal(alone.length, expected.length);
	assert_memory_equal(alone.bytes, expected.bytes, expected.length);
	path = dlsi_bundle_path(unit_alloc(), folder, "model.onnx");
	assert_string_equal(path, folder);
	dlsi_free(unit_alloc(), path);
	dlsi_bundle_fini(&alone);
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
		rc = dlsi_bundle_read(unit_alloc_failing_at(n), folder, &bundle, NULL);
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

UNIT_MAIN(test_folder_comes_back, test_id_depends_on_everything, test_what_is_no_model_folder,
	test_a_file_alone_is_the_model, test_names_that_would_leave_the_folder, test_truncated_lengthened_and_damaged,
	test_memory_runs_out)
