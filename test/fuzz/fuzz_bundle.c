/* Any bytes as a bundle: one that decodes has the same bytes again, and names that stay in their folder. */
#include "store/bundle.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dlsi_bundle bundle;

	if (dlsi_bundle_decode(&dlsi_alloc_libc, data, size, &bundle, NULL))
		return 0;
	if (bundle.length != size || memcmp(bundle.bytes, data, size) != 0)
		abort();
	for (unsigned i = 0; i < bundle.count; i++)
		if (strchr(bundle.files[i].name, '/') || bundle.files[i].name[0] == '.')
			abort();
	dlsi_bundle_fini(&bundle);
	return 0;
}
