#include "test/unit/fields.h"

#include "test/unit/unit.h"
#include <string.h>

#define INLINE_BYTES 4096

static const uint8_t *pattern(void)
{
	static uint8_t bytes[2 * INLINE_BYTES];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 256);
	return bytes;
}

/* A type and shape of at most INLINE_BYTES; returns its bytes. */
static size_t draw_shape(struct dlsi_rng *rng, struct dlsi_field *field)
{
	size_t bytes;

	field->dtype = (uint8_t)(1 + dlsi_rng_below(rng, DLS_BOOL));
	field->rank = (uint8_t)dlsi_rng_below(rng, DLSI_TENSOR_RANK + 1);
	for (unsigned i = 0; i < field->rank; i++)
		field->dims[i] = (int64_t)dlsi_rng_below(rng, field->rank > 3 ? 3 : 8);
	assert_int_equal(dls_tensor_bytes(field->dtype, field->rank, field->dims, &bytes), 0);
	return bytes;
}

static size_t draw_media(struct dlsi_rng *rng, struct dlsi_field *field)
{
	field->media = (uint8_t)(1 + dlsi_rng_below(rng, DLSI_MEDIA_TOP));
	switch (field->media) {
	case DLSI_MEDIA_TENSOR:
		return draw_shape(rng, field);
	case DLSI_MEDIA_TOP:
		field->dtype = DLS_FLOAT32;
		field->rank = 1;
		field->dims[0] = (int64_t)dlsi_rng_below(rng, 10);
		return 8 * (size_t)field->dims[0];
	default:
		return dlsi_rng_below(rng, 300);
	}
}

static void draw_field(struct dlsi_rng *rng, struct dlsi_field *field)
{
	size_t bytes = draw_media(rng, field);

	if (dlsi_rng_below(rng, 2)) {
		field->form = DLSI_FORM_INLINE;
		field->bytes = (struct dlsi_bytes){pattern() + dlsi_rng_below(rng, INLINE_BYTES), (uint32_t)bytes};
		return;
	}
	field->form = DLSI_FORM_BLOB;
	field->offset = dlsi_rng_below(rng, 1 << 20);
	field->length = bytes;
	field->blob.length = field->offset + bytes + dlsi_rng_below(rng, 1000);
	field->blob.proof = (uint8_t)(1 + dlsi_rng_below(rng, DLSI_PROOF_CHECKSUM));
	memcpy(field->blob.name.bytes, pattern() + dlsi_rng_below(rng, INLINE_BYTES), DLSI_HASH_BYTES);
}

void unit_row_draw(struct dlsi_rng *rng, struct unit_row *row)
{
	memset(row, 0, sizeof *row);
	if (dlsi_rng_below(rng, 10) == 0) {
		row->count = 1;
		row->fields[0] = dlsi_field_error(DLS_EHANDLER, "the item \xc3\xa4 is not to its taste");
		return;
	}
	row->count = (unsigned)(1 + dlsi_rng_below(rng, dlsi_rng_below(rng, 10) ? 3 : DLSI_ROW_FIELDS));
	for (unsigned i = 0; i < row->count; i++)
		draw_field(rng, &row->fields[i]);
}

void unit_field_assert_equal(const struct dlsi_field *a, const struct dlsi_field *b)
{
	assert_int_equal(a->form, b->form);
	assert_int_equal(a->media, b->media);
	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	assert_memory_equal(a->dims, b->dims, sizeof a->dims);
	switch (a->form) {
	case DLSI_FORM_INLINE:
		assert_int_equal(a->bytes.length, b->bytes.length);
		assert_memory_equal(a->bytes.data, b->bytes.data, a->bytes.length);
		break;
	case DLSI_FORM_BLOB:
		assert_memory_equal(&a->blob.name, &b->blob.name, sizeof a->blob.name);
		assert_int_equal(a->blob.length, b->blob.length);
		assert_int_equal(a->blob.proof, b->blob.proof);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->length, b->length);
		break;
	default:
		assert_int_equal(a->code, b->code);
		assert_int_equal(a->sentence.length, b->sentence.length);
		assert_memory_equal(a->sentence.data, b->sentence.data, a->sentence.length);
	}
}

void unit_row_assert_equal(const struct unit_row *a, const struct unit_row *b)
{
	assert_int_equal(a->count, b->count);
	for (unsigned i = 0; i < a->count; i++)
		unit_field_assert_equal(&a->fields[i], &b->fields[i]);
}
