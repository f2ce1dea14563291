/* model.json: what is read, what is assumed, and what is refused with the way out. */
#include "media/description.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>

static int parse(
	const struct dlsi_alloc *alloc, const char *text, struct dlsi_description *description, struct dls_error *err)
{
	dlsi_description_init(description, alloc);
	return dlsi_description_parse(description, "model.json", text, strlen(text), err);
}

static const char whole[] =
	"{\"inputs\": {\"photo\": {\"kind\": \"image\", \"resize\": {\"exact\": [480, 640]},"
	" \"filter\": \"lanczos\", \"crop\": [100, 200], \"colour\": \"bgr\", \"scale\": 0.5, \"mean\": [1, 2, 3],"
	" \"std\": 4, \"layout\": \"nhwc\"}, \"mask\": {\"kind\": \"tensor\"}},"
	" \"outputs\": {\"scores\": {\"kind\": \"classes\", \"softmax\": true, \"top\": 5}}, \"max_batch\": 32}";

static void test_reads_everything(void **state)
{
	const struct dlsi_input_description *photo;
	const struct dlsi_output_description *scores;
	struct dlsi_description description;

	(void)state;
	assert_int_equal(parse(unit_alloc(), whole, &description, NULL), 0);
	assert_int_equal(description.max_batch, 32);
	photo = dlsi_description_input(&description, "photo");
	assert_int_equal(photo->kind, DLSI_INPUT_IMAGE);
	assert_int_equal(photo->fit, DLSI_FIT_EXACT);
	assert_int_equal(photo->height, 480);
	assert_int_equal(photo->width, 640);
	assert_int_equal(photo->filter, DLSI_FILTER_LANCZOS);
	assert_int_equal(photo->crop_height, 100);
	assert_int_equal(photo->crop_width, 200);
	assert_int_equal(photo->colour, DLSI_COLOUR_BGR);
	assert_true(photo->scale == 0.5);
	for (int i = 0; i < 3; i++) {
		assert_true(photo->mean[i] == i + 1);
		assert_true(photo->std[i] == 4);
	}
	assert_int_equal(photo->layout, DLSI_LAYOUT_NHWC);
	assert_int_equal(dlsi_description_input(&description, "mask")->kind, DLSI_INPUT_TENSOR);
	scores = dlsi_description_output(&description, "scores");
	assert_int_equal(scores->kind, DLSI_OUTPUT_CLASSES);
	assert_true(scores->softmax);
	assert_int_equal(scores->top, 5);
	dlsi_description_fini(&description);
}

static void test_reads_padding(void **state)
{
	const struct dlsi_input_description *photo;
	struct dlsi_description description;

	(void)state;
	assert_int_equal(
		parse(unit_alloc(),
			"{\"inputs\": {\"a\": {\"kind\": \"image\", \"resize\": {\"fit\": 640, \"pad\": 114}}}}",
			&description, NULL),
		0);
	photo = dlsi_description_input(&description, "a");
	assert_int_equal(photo->fit, DLSI_FIT_INSIDE);
	assert_int_equal(photo->height, 640);
	assert_int_equal(photo->width, 640);
	assert_int_equal(photo->pad, 114);
	dlsi_description_fini(&description);
}

static void test_assumes_the_usual(void **state)
{
	const struct dlsi_input_description *photo;
	struct dlsi_description description;

	(void)state;
	assert_int_equal(parse(unit_alloc(), "{\"inputs\": {\"a\": {\"kind\": \"image\"}}}", &description, NULL), 0);
	photo = dlsi_description_input(&description, "a");
	assert_int_equal(photo->fit, DLSI_FIT_NONE);
	assert_int_equal(photo->filter, DLSI_FILTER_BILINEAR);
	assert_int_equal(photo->crop_height, 0);
	assert_int_equal(photo->colour, DLSI_COLOUR_RGB);
	assert_true(photo->scale == 1 && photo->mean[2] == 0 && photo->std[2] == 1);
	assert_int_equal(photo->layout, DLSI_LAYOUT_NCHW);
	assert_int_equal(description.max_batch, 0);
	dlsi_description_fini(&description);
}

static void test_what_is_not_described_is_a_tensor(void **state)
{
	struct dlsi_description description;

	(void)state;
	dlsi_description_init(&description, unit_alloc());
	assert_int_equal(dlsi_description_input(&description, "any")->kind, DLSI_INPUT_TENSOR);
	assert_int_equal(dlsi_description_output(&description, "any")->kind, DLSI_OUTPUT_TENSOR);
	assert_int_equal(dlsi_description_output(&description, "any")->top, 0);
}

static void test_refusals_say_the_way_out(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *words;
	} cases[] = {
		{"", DLS_EFORMAT, "model.json"},
		{"[]", DLS_EINVAL, "must be an object"},
		{"{\"input\": {}}", DLS_EINVAL, "did you mean \"inputs\""},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"color\": \"rgb\"}}}", DLS_EINVAL,
			"inputs.a: unknown key \"color\"; did you mean \"colour\""},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"colour\": \"gray\"}}}", DLS_EINVAL, "\"grey\""},
		{"{\"inputs\": {\"a\": {\"kind\": \"picture\"}}}", DLS_EINVAL, "did you mean"},
		{"{\"inputs\": {\"a\": {}}}", DLS_EINVAL, "\"kind\" is missing"},
		{"{\"inputs\": {\"a\": {\"kind\": \"tensor\", \"crop\": 5}}}", DLS_EINVAL, "unknown key \"crop\""},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"resize\": {\"short\": 5}}}}", DLS_EINVAL,
			"inputs.a.resize: unknown key \"short\"; did you mean \"shorter\""},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"resize\": {}}}}", DLS_EINVAL, "one of shorter, exact"},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"resize\": {\"shorter\": 5, \"pad\": 1}}}}", DLS_EINVAL,
			"\"fit\" only"},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"crop\": [1, 2, 3]}}}", DLS_EINVAL, "[height, width]"},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"crop\": []}}}", DLS_EINVAL, "[height, width]"},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"crop\": 2, \"resize\": {\"fit\": 5}}}}", DLS_EINVAL,
			"remove one"},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"std\": 0}}}", DLS_EINVAL, "divided"},
		{"{\"inputs\": {\"a\": {\"kind\": \"image\", \"mean\": [1, 2]}}}", DLS_EINVAL, "each of 3 channels"},
		{"{\"outputs\": {\"a\": {\"kind\": \"classes\", \"top\": 0}}}", DLS_EINVAL, "from 1 to 65536"},
		{"{\"max_batch\": \"8\"}", DLS_EINVAL, "whole number from 1 to 4096"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_description description;
		struct dls_error err = {0};

		assert_int_equal(parse(unit_alloc(), cases[i].text, &description, &err), cases[i].code);
		if (!strstr(err.text, cases[i].words))
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(description.input_count, 0);
	}
}

static void test_names_are_held_against_the_model(void **state)
{
	static const char *const inputs[] = {"image", "photo", "mask", NULL}, *const outputs[] = {"score", NULL};
	struct dlsi_description description;
	struct dls_error err = {0};

	(void)state;
	assert_int_equal(parse(unit_alloc(), whole, &description, NULL), 0);
	assert_int_equal(dlsi_description_check(&description, inputs, outputs, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "output \"scores\""));
	assert_non_null(strstr(err.text, "did you mean \"score\""));
	assert_int_equal(dlsi_description_check(&description, outputs, inputs, &err), DLS_EINVAL);
	assert_non_null(strstr(err.text, "input \"photo\""));
	assert_int_equal(dlsi_description_check(&description, inputs, (const char *[]){"scores", NULL}, NULL), 0);
	dlsi_description_fini(&description);
}

static void test_every_request_for_memory_may_fail(void **state)
{
	(void)state;
	for (unsigned n = 1;; n++) {
		struct dlsi_description description;
		int rc = parse(unit_alloc_failing_at(n), whole, &description, NULL);

		if (rc == 0) {
			dlsi_description_fini(&description);
			break;
		}
		assert_int_equal(rc, DLS_ENOMEM);
		assert_int_equal(description.input_count, 0);
		assert_true(n < 50);
	}
}

UNIT_MAIN(test_reads_everything, test_reads_padding, test_assumes_the_usual, test_what_is_not_described_is_a_tensor,
	test_refusals_say_the_way_out, test_names_are_held_against_the_model, test_every_request_for_memory_may_fail)
