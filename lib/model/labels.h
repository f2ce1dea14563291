/* labels.txt of a model folder: line n names class n - 1. UTF-8; the line ends of Windows and empty lines at the end do
 * not count. */
#ifndef DLSI_MODEL_LABELS_H
#define DLSI_MODEL_LABELS_H

#include "base/alloc.h"
#include "base/error.h"
#include <stdint.h>

struct dlsi_labels {
	char *text;
	const char **names;
	uint32_t count;
	const struct dlsi_alloc *alloc;
};

/* Copies what it needs of the file. Errors: DLS_EFORMAT (names the line that is not UTF-8 or has control characters),
 * DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_labels_parse(const struct dlsi_alloc *alloc, const void *file, size_t length, struct dlsi_labels *labels_out,
	struct dls_error *err);
void dlsi_labels_fini(struct dlsi_labels *labels);

#endif
