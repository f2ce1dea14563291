/* Any bytes as a page: opened and read whole, without a fault; what was read is written and read again as the same. */
#include "proto/page.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rewritten(const struct dlsi_field *fields, unsigned count)
{
	struct dlsi_field again[DLSI_ROW_FIELDS];
	struct dlsi_page_writer writer;
	struct dlsi_buffer buffer;
	struct dlsi_page page;
	unsigned read;

	dlsi_buffer_init(&buffer, &dlsi_alloc_libc);
	dlsi_page_begin(&writer, &buffer);
	dlsi_page_add_row(&writer, fields, count);
	dlsi_page_end(&writer);
	if (!buffer.failed && (dlsi_page_open(buffer.data, buffer.length, 1, &page, NULL) ||
				      dlsi_page_row(&page, 0, again, &read, NULL) || read != count))
		abort();
	dlsi_buffer_fini(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dlsi_field fields[DLSI_ROW_FIELDS];
	struct dlsi_page page;
	unsigned count;

	if (dlsi_page_open(data, size, UINT32_MAX, &page, NULL))
		return 0;
	for (uint32_t row = 0; row < page.rows; row++)
		if (dlsi_page_row(&page, row, fields, &count, NULL) == 0)
			check_rewritten(fields, count);
	return 0;
}
