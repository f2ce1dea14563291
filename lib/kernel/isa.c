#include "kernel/isa.h"

#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

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

void dlsi_processor_name(char name_out[DLSI_PROCESSOR_NAME_BYTES])
{
#ifdef __x86_64__
	const unsigned first = 0x80000002, last = 0x80000004; /* each gives 16 characters */

	memset(name_out, 0, DLSI_PROCESSOR_NAME_BYTES);
	for (unsigned leaf = first; leaf <= last && (unsigned)__get_cpuid_max(first & 0x80000000, NULL) >= last;
		leaf++) {
		unsigned words[4];

		__cpuid(leaf, words[0], words[1], words[2], words[3]);
		memcpy(name_out + (leaf - first) * sizeof words, words, sizeof words);
	}
#else
	memset(name_out, 0, DLSI_PROCESSOR_NAME_BYTES);
#endif
}
