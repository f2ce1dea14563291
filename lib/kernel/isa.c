#include "kernel/isa.h"

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
