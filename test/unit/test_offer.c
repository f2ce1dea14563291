/* What is offered: by whom it can be opened, from where it is read, and when it is gone. */
#include "base/file.h"
#include "net/offer.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct dlsi_id token = {{1}}, other_token = {{2}};

static struct dlsi_offers *create(const struct dlsi_alloc *alloc)
{
	struct dlsi_offers *offers = NULL;

	assert_int_equal(dlsi_offers_create(alloc, &offers, NULL), 0);
	return offers;
}

static void count_release(void *arg, const void *data)
{
	(void)data;
	++*(int *)arg;
}

static struct dlsi_source in_memory(const char *text, int *released)
{
	return (struct dlsi_source){
		.frame = dlsi_frame_wrap(unit_alloc(), text, strlen(text), count_release, released)};
}

static void test_only_the_token_opens(void **state)
{
	struct dlsi_offers *offers = create(unit_alloc());
	struct dlsi_blob blob = {.name = {{7}}, .length = 5};
	struct dlsi_hash unknown = {{8}};
	struct dlsi_offer *offer = NULL;
	struct dlsi_frame *frame;
	int released = 0;
	struct dlsi_source source = in_memory("hello", &released);

	(void)state;
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, NULL), 0);
	dlsi_frame_unref(source.frame);
	assert_int_equal(dlsi_offers_open(offers, &other_token, &blob.name, &offer, NULL), DLS_EDENIED);
	assert_int_equal(dlsi_offers_open(offers, &token, &unknown, &offer, NULL), DLS_ENOTFOUND);
	assert_null(offer);
	assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), 0);
	dlsi_offers_remove(offers, &token, &blob.name);
	assert_int_equal(dlsi_offer_read(offer, 1, 3, &frame, NULL), 0); /* although it is not offered any more */
	assert_memory_equal(dlsi_frame_data(frame), "ell", 3);
	dlsi_offer_release(offer);
	assert_int_equal(released, 0);
	dlsi_frame_unref(frame);
	assert_int_equal(released, 1);
	assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), DLS_ENOTFOUND);
	dlsi_offers_destroy(offers);
}

static void test_offers_are_counted(void **state)
{
	struct dlsi_offers *offers = create(unit_alloc());
	struct dlsi_blob blob = {.name = {{7}}, .length = 5}, longer = {.name = {{7}}, .length = 6};
	struct dlsi_blob twin = blob; /* whose name begins alike */
	struct dlsi_offer *offer = NULL;
	int released = 0;
	struct dlsi_source source = in_memory("hello!", &released);

	(void)state;
	twin.name.bytes[31] = 1;
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, NULL), 0);
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, NULL), 0);
	assert_int_equal(dlsi_offers_add(offers, &other_token, &blob, &source, NULL), 0);
	assert_int_equal(dlsi_offers_add(offers, &token, &longer, &source, NULL), DLS_EEXISTS);
	assert_int_equal(dlsi_offers_add(offers, &token, &twin, &source, NULL), DLS_EEXISTS);
	dlsi_frame_unref(source.frame);
	dlsi_offers_remove(offers, &token, &blob.name);
	assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), 0);
	dlsi_offer_release(offer);
	dlsi_offers_remove(offers, &token, &blob.name);
	dlsi_offers_remove(offers, &token, &blob.name);
	assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), DLS_EDENIED);
	assert_int_equal(dlsi_offers_open(offers, &other_token, &blob.name, &offer, NULL), 0);
	dlsi_offer_release(offer);
	assert_int_equal(released, 0);
	dlsi_offers_remove(offers, &other_token, &blob.name);
	assert_int_equal(released, 1);
	dlsi_offers_destroy(offers);
}

static void test_bounds(void **state)
{
	struct dlsi_offers *offers = create(unit_alloc());
	struct dlsi_blob blob = {.name = {{7}}, .length = 6};
	struct dlsi_frame *frame = NULL;
	struct dlsi_offer *offer;
	int released = 0;
	struct dlsi_source source = in_memory("hello!", &released);

	(void)state;
	blob.length = 7;
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, NULL), DLS_EINVAL);
	blob.length = 5;
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, NULL), 0);
	dlsi_frame_unref(source.frame);
	assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), 0);
	assert_int_equal(dlsi_offer_length(offer), 5);
	assert_int_equal(dlsi_offer_read(offer, 0, 6, &frame, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_offer_read(offer, 6, 0, &frame, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_offer_read(offer, 3, SIZE_MAX, &frame, NULL), DLS_EINVAL);
	assert_int_equal(dlsi_offer_read(offer, UINT64_MAX, 2, &frame, NULL), DLS_EINVAL);
	assert_null(frame);
	assert_int_equal(dlsi_offer_read(offer, 5, 0, &frame, NULL), 0);
	dlsi_frame_unref(frame);
	dlsi_offer_release(offer);
	dlsi_offers_destroy(offers);
}

static void test_files(void **state)
{
	struct dlsi_offers *offers = create(unit_alloc());
	struct dlsi_blob blob = {.name = {{7}}, .length = 5};
	struct dlsi_frame *frame = NULL;
	struct dlsi_offer *offer;
	struct dls_error err;
	char path[200];
	struct dlsi_source source = {.path = path, .offset = 3};

	(void)state;
	snprintf(path, sizeof path, "%s/file", unit_folder());
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, &err), DLS_EIO);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, "0123456", 7, NULL), 0);
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, &err), DLS_EINVAL);
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, "01234567", 8, NULL), 0);
	assert_int_equal(dlsi_offers_add(offers, &token, &blob, &source, &err), 0);
	assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), 0);
	assert_false(dlsi_offer_is_in_memory(offer));
	assert_int_equal(dlsi_offer_read(offer, 1, 4, &frame, NULL), 0);
	assert_int_equal(dlsi_frame_size(frame), 4);
	assert_memory_equal(dlsi_frame_data(frame), "4567", 4);
	dlsi_frame_unref(frame);
	frame = NULL;
	assert_int_equal(truncate(path, 7), 0);
	assert_int_equal(dlsi_offer_read(offer, 0, 5, &frame, &err), DLS_EIO);
	assert_non_null(strstr(err.text, "shorter"));
	unlink(path);
	assert_int_equal(dlsi_offer_read(offer, 0, 5, &frame, &err), DLS_EIO);
	assert_non_null(strstr(err.text, path));
	assert_null(frame);
	dlsi_offer_release(offer);
	dlsi_offers_destroy(offers);
}

/* Whichever request fails, the blob is not offered, and its source is not held. */
static void test_memory_runs_out(void **state)
{
	unsigned n = 1;
	int rc = DLS_ENOMEM;

	(void)state;
	for (; rc; n++) {
		struct dlsi_blob blob = {.name = {{7}}, .length = 5};
		struct dlsi_offers *offers = NULL;
		struct dlsi_offer *offer;
		int released = 0;
		struct dlsi_source source = in_memory("hello", &released);

		assert_true(n < 20);
		rc = dlsi_offers_create(unit_alloc_failing_at(n), &offers, NULL);
		if (rc == 0)
			rc = dlsi_offers_add(offers, &token, &blob, &source, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		if (offers && rc)
			assert_int_equal(dlsi_offers_open(offers, &token, &blob.name, &offer, NULL), DLS_ENOTFOUND);
		dlsi_frame_unref(source.frame);
		assert_int_equal(released, rc != 0);
		dlsi_offers_destroy(offers);
		assert_int_equal(released, 1);
	}
	assert_true(n > 5);
}

UNIT_MAIN(test_only_the_token_opens, test_offers_are_counted, test_bounds, test_files, test_memory_runs_out)
