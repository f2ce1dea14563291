#include "device/onednn_isa.h"

#include <dnnl.h>

/* What it can do at least is SSE4.1. */
static const dnnl_cpu_isa_t limits[] = {
	[DLSI_ISA_GENERIC] = dnnl_cpu_isa_sse41,
	[DLSI_ISA_AVX2] = dnnl_cpu_isa_avx2,
};

int dlsi_onednn_isa(enum dlsi_isa *isa_out, struct dls_error *err)
{
	enum dlsi_isa isa;
	int rc = dlsi_isa_choose(&isa, err);

	if (rc)
		return rc;
	if (isa < dlsi_isa_of_processor()) {
		dnnl_set_max_cpu_isa(limits[isa]); /* fails from the second time on */
		if (dnnl_get_effective_cpu_isa() & ~limits[isa])
			return dlsi_fail(err, DLS_ESTATE,
				"DLS_ISA is %s, and oneDNN goes further since it was used before in this process; set "
				"it sooner",
				dlsi_isa_name(isa));
	}
	*isa_out = isa;
	return 0;
}
