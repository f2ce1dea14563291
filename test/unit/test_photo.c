/* Photos are told apart by their first bytes, and what is no photo is named. */
#include "media/photo.h"
#include "test/unit/unit.h"
#include <string.h>

static void test_what_is_no_photo_is_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *words;
	} cases[] = {
		{"", 0, "an empty file"},
		{"\xff", 1, "none of the two"},
		{"\x89PNG", 4, "none of the two"},
		{"GIF89a", 6, "a GIF file"},
		{"RIFF\0\0\0\0WEBPVP8 ", 16, "a WebP file"},
		{"RIFF\0\0\0\0WEB", 11, "none of the two"},
		{"<html>", 6, "none of the two"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_image image = {.width = 7};
		struct dls_error err = {0};

		assert_int_equal(
			dlsi_photo_decode(unit_alloc(), cases[i].bytes, cases[i].length, &image, &err), DLS_EFORMAT);
		assert_non_null(strstr(err.text, "must be a JPEG or PNG file"));
		assert_non_null(strstr(err.text, cases[i].words));
		assert_int_equal(image.width, 7);
	}
}

static void test_begun_photos_reach_their_decoder(void **state)
{
	struct dlsi_image image;
	struct dls_error err;

	(void)state;
	assert_int_equal(dlsi_photo_decode(unit_alloc(), "\xff\xd8\xff", 3, &image, &err), DLS_EFORMAT);
	assert_non_null(strstr(err.text, "JPEG photo is damaged"));
	assert_int_equal(dlsi_photo_decode(unit_alloc(), "\x89PNG\r\n\x1a\n", 8, &image, &err), DLS_EFORMAT);
	assert_non_null(strstr(err.text, "PNG picture is damaged"));
}

UNIT_MAIN(test_what_is_no_photo_is_named, test_begun_photos_reach_their_decoder)
