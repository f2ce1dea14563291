#include "model/labels.h"

#include "base/limits.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

/* Where the last line that is not empty ends. */
static size_t end_of(const char *text, size_t length)
{
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	return length;
}

/* Ends each line with a NUL and notes where it begins. */
static int split(struct dlsi_labels *labels, size_t length, struct dls_error *err)
{
	char *line = labels->text;

	for (size_t i = 0; i <= length;) {
		uint32_t code = 0;
		size_t width = i < length ? dlsi_utf8_next((uint8_t *)labels->text + i, length - i, &code) : 1;

		if (i == length || code == '\n') {
			labels->text[i] = '\0';
			labels->names[labels->count++] = line;
			line = labels->text + i + 1;
		} else if (code == '\r' && labels->text[i + 1] == '\n') {
			labels->text[i] = '\0';
		} else if (!width || (code < 0x20 && code != '\t') || code == 0x7f) {
			return dlsi_fail(err, DLS_EFORMAT,
				"labels.txt: line %" PRIu32 " has a byte that is no text; the file must be UTF-8",
				labels->count + 1);
		}
		i += width;
	}
	return 0;
}

int dlsi_labels_parse(const struct dlsi_alloc *alloc, const void *file, size_t length, struct dlsi_labels *labels_out,
	struct dls_error *err)
{
	struct dlsi_labels labels = {.alloc = alloc};
	size_t lines = 1;
	int rc;

	if (length > DLSI_LABELS_BYTES)
		return dlsi_fail(
			err, DLS_ELIMIT, "labels.txt has %zu bytes; it may have %d", length, DLSI_LABELS_BYTES);
	length = end_of(file, length);
	if (!length) {
		*labels_out = labels;
		return 0;
	}
	labels.text = dlsi_strndup(alloc, file, length);
	for (size_t i = 0; labels.text && i < length; i++)
		lines += labels.text[i] == '\n';
	labels.names = labels.text ? dlsi_calloc(alloc, lines, sizeof *labels.names) : NULL;
	rc = labels.names ? split(&labels, length, err) : dlsi_fail_memory(err);
	if (rc)
		dlsi_labels_fini(&labels);
	else
		*labels_out = labels;
	return rc;
}

void dlsi_labels_fini(struct dlsi_labels *labels)
{
	dlsi_free(labels->alloc, labels->names);
	dlsi_free(labels->alloc, labels->text);
	*labels = (struct dlsi_labels){.alloc = labels->alloc};
}
