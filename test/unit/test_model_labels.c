/* Lines of labels.txt become names of classes, whatever system wrote them. */
#include "base/limits.h"
#include "model/labels.h"
#include "test/unit/unit.h"
#include <string.h>

static void assert_names(const char *file, uint32_t count, const char *first, const char *last)
{
	struct dlsi_labels labels;

	assert_int_equal(dlsi_labels_parse(unit_alloc(), file, strlen(file), &labels, NULL), 0);
	assert_int_equal(labels.count, count);
	if (count) {
		assert_string_equal(labels.names[0], first);
		assert_string_equal(labels.names[count - 1], last);
	}
	dlsi_labels_fini(&labels);
}

static void test_each_line_is_a_name(void **state)
{
	(void)state;
	assert_names("cat\ndog\n", 2, "cat", "dog");
	assert_names("cat\ndog", 2, "cat", "dog");
	assert_names("cat\r\n\r\nm\xc3\xbcll, a\tb\r\n\r\n", 3, "cat", "m\xc3\xbcll, a\tb");
	assert_names("\ncat\n", 2, "", "cat");
	assert_names("", 0, NULL, NULL);
	assert_names("\n\n", 0, NULL, NULL);
}

static void assert_refused(const char *file, size_t length, const char *sentence)
{
	struct dlsi_labels labels;
	struct dls_error err;

	assert_int_equal(dlsi_labels_parse(unit_alloc(), file, length, &labels, &err), DLS_EFORMAT);
	assert_string_equal(err.text, sentence);
}

static void test_refuses_what_is_no_text(void **state)
{
	static char large[DLSI_LABELS_BYTES + 1];
	struct dlsi_labels labels;

	(void)state;
	assert_refused("a\nb\xff\nc", 6, "labels.txt: line 2 has a byte that is no text; the file must be UTF-8");
	assert_refused("a\0b", 3, "labels.txt: line 1 has a byte that is no text; the file must be UTF-8");
	assert_refused("a\rb", 3, "labels.txt: line 1 has a byte that is no text; the file must be UTF-8");
	assert_int_equal(dlsi_labels_parse(unit_alloc(), large, sizeof large, &labels, NULL), DLS_ELIMIT);
}

static void test_survives_exhausted_memory(void **state)
{
	struct dlsi_labels labels;

	(void)state;
	for (unsigned n = 1; n <= 2; n++)
		assert_int_equal(dlsi_labels_parse(unit_alloc_failing_at(n), "a\nb", 3, &labels, NULL), DLS_ENOMEM);
}

UNIT_MAIN(test_each_line_is_a_name, test_refuses_what_is_no_text, test_survives_exhausted_memory)
