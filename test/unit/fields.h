/* Rows of fields of every form and media, drawn from a seed; what pages and manifests are tested with. */
#ifndef DLSI_UNIT_FIELDS_H
#define DLSI_UNIT_FIELDS_H

#include "base/rng.h"
#include "proto/page.h"

struct unit_row {
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	unsigned count;
};

/* Valid, with views into constant memory; one row in ten is an error. */
void unit_row_draw(struct dlsi_rng *rng, struct unit_row *row);

void unit_field_assert_equal(const struct dlsi_field *a, const struct dlsi_field *b);
void unit_row_assert_equal(const struct unit_row *a, const struct unit_row *b);

#endif
