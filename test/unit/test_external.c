/* Models whose weights lie in files beside them: found where the model says, and refused when that is anywhere else
 * than in the model's folder or in its files. */
#include "base/file.h"
#include "model/folder.h"
#include "test/unit/onnx.h"
#include "test/unit/unit.h"
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODEL(away) "in x ? 4\n" away "\nnode Add x w > y\nout y\n"

static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};

static void write_beside(const char *folder, const char *name, const void *data, size_t length)
{
	char *path = dlsi_file_join(unit_alloc(), folder, name);

	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, data, length, NULL), 0);
	dlsi_free(unit_alloc(), path);
}

/* A folder with this model and the numbers in weights.bin. */
static const char *folder_with(const char *text)
{
	const char *folder = unit_folder();
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_buffer file;

	unit_onnx(&file, &rng, text);
	write_beside(folder, DLSI_MODEL_ONNX, file.data, file.length);
	write_beside(folder, "weights.bin", numbers, sizeof numbers);
	dlsi_buffer_fini(&file);
	return folder;
}

static const float *find_constant(const struct dlsi_model_folder *folder, const char *name)
{
	for (uint32_t i = 0; i < folder->graph->value_count; i++)
		if (strcmp(folder->graph->values[i].name, name) == 0)
			return folder->graph->values[i].data;
	fail_msg("there is no constant %s", name);
	return NULL;
}

static void test_data_are_where_the_model_says(void **state)
{
	const char *path = folder_with("in x ? 4\n"
				       "away a weights.bin 0 16 4\n"
				       "away b weights.bin 16 - 4\n"
				       "away c weights.bin - - 4\n"
				       "away d other_file-1.DATA 2 8 2 1\n"
				       "away e other_file-1.DATA 10 0 0\n"
				       "node Add x a > y\nout y\n");
	struct dlsi_model_folder folder;
	struct dls_error err;
	struct dlsi_bundle_source *sources;
	size_t count;

	(void)state;
	write_beside(path, "other_file-1.DATA", "xx\0\0\0\x40\0\0\0\x41", 10);
	if (dlsi_model_folder_open(&folder, unit_alloc(), path, &err))
		fail_msg("%s", err.text);
	assert_memory_equal(find_constant(&folder, "a"), numbers, 16);
	assert_memory_equal(find_constant(&folder, "b"), numbers + 4, 16);
	assert_memory_equal(find_constant(&folder, "c"), numbers, 16);
	assert_memory_equal(find_constant(&folder, "d"), "\0\0\0\x40\0\0\0\x41", 8);
	assert_ptr_equal(find_constant(&folder, "a"), find_constant(&folder, "c")); /* read once */
	assert_int_equal(dlsi_model_folder_sources(&folder, &sources, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_string_equal(sources[0].name, "model.onnx");
	assert_string_equal(sources[1].name, "weights.bin");
	assert_string_equal(sources[2].name, "other_file-1.DATA");
	for (size_t i = 0; i < count; i++)
		assert_int_equal(access(sources[i].path, R_OK), 0);
	dlsi_model_folder_free_sources(&folder, sources, count);
	dlsi_model_folder_close(&folder);
}

/* Whatever the file is called: its data are beside it. */
static void test_a_file_alone(void **state)
{
	char *from = dlsi_file_join(unit_alloc(), folder_with(MODEL("away w weights.bin 16 16 4")), DLSI_MODEL_ONNX);
	char *path = dlsi_file_join(unit_alloc(), dirname(strdupa(from)), "my net");
	struct dlsi_bundle_source *sources;
	struct dlsi_model_folder folder;
	struct dls_error err;
	size_t count;

	(void)state;
	assert_int_equal(rename(from, path), 0);
	if (dlsi_model_folder_open(&folder, unit_alloc(), path, &err))
		fail_msg("%s", err.text);
	assert_memory_equal(find_constant(&folder, "w"), numbers + 4, 16);
	assert_int_equal(dlsi_model_folder_sources(&folder, &sources, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(sources[0].name, "model.onnx");
	assert_string_equal(sources[0].path, path);
	assert_int_equal(access(sources[1].path, R_OK), 0);
	dlsi_model_folder_free_sources(&folder, sources, count);
	dlsi_model_folder_close(&folder);
	dlsi_free(unit_alloc(), from);
	dlsi_free(unit_alloc(), path);
}

static void assert_refused(const char *path, int code, const char *const *words)
{
	struct dlsi_model_folder folder;
	struct dls_error err;

	assert_int_equal(dlsi_model_folder_open(&folder, unit_alloc(), path, &err), code);
	for (; *words; words++)
		if (!strstr(err.text, *words))
			fail_msg("\"%s\" does not say \"%s\"", err.text, *words);
}

#define REFUSED(text, code, ...)                                                                                       \
	assert_refused(folder_with(MODEL(text)), code,                                                                 \
		(const char *const[]){"model.onnx: the constant 'w': ", __VA_ARGS__, NULL})

static void test_files_elsewhere(void **state)
{
	(void)state;
	REFUSED("away w ../weights.bin 0 16 4", DLS_EINVAL, "'../weights.bin'", "no file beside the model");
	REFUSED("away w /etc/passwd 0 16 4", DLS_EINVAL, "'/etc/passwd'", "no file beside the model");
	REFUSED("away w a/weights.bin 0 16 4", DLS_EINVAL, "'a/weights.bin'", "no file beside the model");
	REFUSED("away w .. 0 16 4", DLS_EINVAL, "'..'", "no file beside the model");
	REFUSED("away w .weights 0 16 4", DLS_EINVAL, "'.weights'", "no file beside the model");
	REFUSED("away w a\\b 0 16 4", DLS_EINVAL, "'a\\b'", "no file beside the model");
	REFUSED("away w - 0 16 4", DLS_EFORMAT, "does not say in which");
	REFUSED("away w model.json 0 16 4", DLS_EINVAL, "'model.json'", "another part of a model");
	REFUSED("away w model.onnx 0 16 4", DLS_EINVAL, "'model.onnx'", "another part of a model");
	REFUSED("away w weights.bim 0 16 4", DLS_ENOTFOUND, "'weights.bim'", "cannot open");
}

static void test_files_that_are_none(void **state)
{
	static const char *const link_words[] = {"'link'", "is a link", NULL};
	static const char *const folder_words[] = {"'link'", "is not a regular file", NULL};
	const char *folder = folder_with(MODEL("away w link 0 16 4"));
	char *path = dlsi_file_join(unit_alloc(), folder, "link");

	(void)state;
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_refused(folder, DLS_EINVAL, link_words);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("weights.bin", path), 0);
	assert_refused(folder, DLS_EINVAL, link_words);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(folder, DLS_EINVAL, folder_words);
	dlsi_free(unit_alloc(), path);
}

static void test_bytes_that_are_not_there(void **state)
{
	(void)state;
	REFUSED("away w weights.bin 20 16 4", DLS_EFORMAT, "the 16 bytes from byte 20 on", "ends after 32");
	REFUSED("away w weights.bin 33 - 4", DLS_EFORMAT, "ends after 32");
	REFUSED("away w weights.bin 9223372036854775807 16 4", DLS_EFORMAT, "ends after 32");
	REFUSED("away w weights.bin 18446744073709551615 16 4", DLS_EFORMAT, "its offset", "no number of bytes");
	REFUSED("away w weights.bin 99999999999999999999999 16 4", DLS_EFORMAT, "no number of bytes");
	REFUSED("away w weights.bin -16 16 4", DLS_EFORMAT, "'-16'", "no number of bytes");
	REFUSED("away w weights.bin 0x10 16 4", DLS_EFORMAT, "'0x10'", "no number of bytes");
	REFUSED("away w weights.bin 0 sixteen 4", DLS_EFORMAT, "its length", "'sixteen'");
	REFUSED("away w weights.bin 0 12 4", DLS_EFORMAT, "are 12 bytes, and its shape needs 16");
	REFUSED("away w weights.bin 0 - 9", DLS_EFORMAT, "ends after 32");
}

static void test_a_model_that_comes_alone(void **state)
{
	struct dlsi_rng rng = unit_rng(1);
	struct dlsi_graph *graph;
	struct dlsi_buffer file;
	struct dls_error err;

	(void)state;
	unit_onnx(&file, &rng, MODEL("away w weights.bin 0 16 4"));
	assert_int_equal(unit_onnx_load(unit_alloc(), &file, &graph, &err), DLS_EUNSUPPORTED);
	assert_non_null(strstr(err.text, "'weights.bin', and the model comes without it"));
	dlsi_buffer_fini(&file);
}

static void test_a_file_that_protobuf_cannot_have(void **state)
{
	static const char *const words[] = {"model.onnx: it has 2147483648 bytes", "2 GB", "external data", NULL};
	const char *folder = folder_with(MODEL("floats w 1 2 3 4"));
	char *path = dlsi_file_join(unit_alloc(), folder, DLSI_MODEL_ONNX);

	(void)state;
	assert_int_equal(truncate(path, (off_t)1 << 31), 0);
	assert_refused(folder, DLS_ELIMIT, words);
	dlsi_free(unit_alloc(), path);
}

static void test_memory_runs_out(void **state)
{
	const char *path = folder_with(MODEL("away w weights.bin 16 16 4"));
	struct dlsi_model_folder folder;
	unsigned n = 0;
	int rc;

	(void)state;
	do {
		rc = dlsi_model_folder_open(&folder, unit_alloc_failing_at(++n), path, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
	} while (rc);
	assert_true(n > 10);
	dlsi_model_folder_close(&folder);
}

UNIT_MAIN(test_data_are_where_the_model_says, test_a_file_alone, test_files_elsewhere, test_files_that_are_none,
	test_bytes_that_are_not_there, test_a_model_that_comes_alone, test_a_file_that_protobuf_cannot_have,
	test_memory_runs_out)
