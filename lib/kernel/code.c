#include "kernel/code.h"

#include "kernel/isa.h"

extern const struct dlsi_kernel_code dlsi_kernel_code_generic8, dlsi_kernel_code_generic16;
#ifdef __x86_64__
extern const struct dlsi_kernel_code dlsi_kernel_code_avx2, dlsi_kernel_code_avx512;
#endif

const struct dlsi_kernel_code *dlsi_kernel_code(int block)
{
#ifdef __x86_64__
	enum dlsi_isa isa = dlsi_isa();

	if (block == 8 && isa >= DLSI_ISA_AVX2)
		return &dlsi_kernel_code_avx2;
	if (block == 16 && isa >= DLSI_ISA_AVX512)
		return &dlsi_kernel_code_avx512;
#endif
	return block == 8 ? &dlsi_kernel_code_generic8 : &dlsi_kernel_code_generic16;
}
