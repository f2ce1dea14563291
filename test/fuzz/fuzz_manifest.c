/* Any bytes as a manifest: every run of one that opens lies where it may. */
#include "proto/manifest.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct dlsi_run *run, uint64_t items, size_t size)
{
	struct dlsi_field last = dlsi_run_field(run, run->first + run->items - 1);

	if (run->items == 0 || run->first > items || run->items > items - run->first)
		abort();
	if (run->kind == DLSI_RUN_PAGE && (run->page_offset > size || run->page_length > size - run->page_offset))
		abort();
	if (run->kind == DLSI_RUN_EQUAL && last.offset + last.length > last.blob.length)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dlsi_reader reader = {data, data + size, true};
	struct dlsi_manifest manifest;
	struct dlsi_run run = {0};
	uint64_t items;

	dlsi_read_u64(&reader); /* the magic and the number of runs */
	items = dlsi_read_u64(&reader);
	if (dlsi_manifest_open(data, size, size, items, &manifest, NULL))
		return 0;
	while (dlsi_manifest_next(&manifest, &run))
		check_run(&run, items, size);
	if (run.first + run.items != items)
		abort();
	return 0;
}
