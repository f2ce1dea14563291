#include "kernel/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	[DLSI_ISA_GENERIC] = "generic", [DLSI_ISA_AVX2] = "avx2", [DLSI_ISA_AVX512] = "avx512"};

enum dlsi_isa dlsi_isa_of_processor(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return DLSI_ISA_AVX512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return DLSI_ISA_AVX2;
#endif
	return DLSI_ISA_GENERIC;
}

int dlsi_isa_block(enum dlsi_isa isa)
{
	return isa == DLSI_ISA_AVX512 ? 16 : 8;
}

const char *dlsi_isa_name(enum dlsi_isa isa)
{
	return names[isa];
}

bool dlsi_isa_from_name(const char *name, enum dlsi_isa *isa_out)
{
	for (int isa = 0; isa <= DLSI_ISA_AVX512; isa++) {
		if (strcmp(names[isa], name) == 0) {
			*isa_out = (enum dlsi_isa)isa;
			return true;
		}
	}
	return false;
}

int dlsi_isa_choose(enum dlsi_isa *isa_out, struct dls_error *err)
{
	const char *name = getenv("DLS_ISA");
	enum dlsi_isa most = dlsi_isa_of_processor(), named = most;

	if (name && *name && !dlsi_isa_from_name(name, &named))
		return dlsi_fail(err, DLS_EINVAL, "DLS_ISA is \"%s\": it may be generic, avx2 or avx512", name);
	*isa_out = named < most ? named : most;
	return 0;
}
