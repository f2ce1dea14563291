/* Makes one photo into a tensor again and again, on one thread, and prints how often per second.
 * usage: image_prepare_tool FILE SECONDS */
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "media/prepare.h"
#include <stdio.h>
#include <stdlib.h>

static const char model_json[] = "{\"inputs\": {\"photo\": {\"kind\": \"image\", \"resize\": {\"shorter\": 256},"
				 " \"crop\": 224, \"mean\": 127, \"std\": 128}}}";

static int measure(const struct dlsi_prepare *plan, const char *path, double seconds, struct dls_error *err)
{
	int64_t begin, now, end;
	static float item[3 * 224 * 224];
	size_t length, count = 0;
	uint8_t *photo;
	int rc = dlsi_file_read(&dlsi_alloc_libc, path, DLSI_BLOB_BYTES, &photo, &length, err);

	if (rc)
		return rc;
	begin = now = dlsi_clock_monotonic_ns();
	end = begin + (int64_t)(seconds * (double)DLSI_SECOND_NS);
	for (; now < end && rc == 0; count++, now = dlsi_clock_monotonic_ns())
		rc = dlsi_prepare_file(plan, &dlsi_alloc_libc, photo, length, item, err);
	printf("%.1f\n", (double)count * (double)DLSI_SECOND_NS / (double)(now - begin));
	free(photo);
	return rc;
}

int main(int argc, char **argv)
{
	static const int64_t dims[] = {1, 3, 224, 224};
	struct dlsi_description description;
	struct dlsi_prepare plan;
	struct dls_error err;
	int rc;

	if (argc != 3)
		return 2;
	dlsi_description_init(&description, &dlsi_alloc_libc);
	rc = dlsi_description_parse(&description, "model.json", model_json, sizeof model_json - 1, &err);
	if (rc == 0)
		rc = dlsi_prepare_init(
			&plan, "photo", dlsi_description_input(&description, "photo"), DLS_FLOAT32, 4, dims, &err);
	if (rc == 0)
		rc = measure(&plan, argv[1], strtod(argv[2], NULL), &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	dlsi_description_fini(&description);
	return rc != 0;
}
