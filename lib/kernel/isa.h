/* Which instructions of the processor our kernels may use. Every kernel is right at each of these; higher ones are
 * faster. Thread-safe. */
#ifndef DLSI_ISA_H
#define DLSI_ISA_H

#include "base/error.h"
#include <stdbool.h>

enum dlsi_isa {
	DLSI_ISA_GENERIC, /* what the compiler takes for granted */
	DLSI_ISA_AVX2,    /* with FMA */
	DLSI_ISA_AVX512   /* F, BW, DQ and VL */
};

/* The highest that the processor has. */
enum dlsi_isa dlsi_isa_of_processor(void);

/* The same, but no higher than what the environment's DLS_ISA names, if it is there and not empty. Errors: DLS_EINVAL
 * (it names none). */
int dlsi_isa_choose(enum dlsi_isa *isa_out, struct dls_error *err);

/* The channels in a block of the layout nChw8c or nChw16c for which the kernels at `isa` are made. */
int dlsi_isa_block(enum dlsi_isa isa);

/* "generic", "avx2" or "avx512". */
const char *dlsi_isa_name(enum dlsi_isa isa);
bool dlsi_isa_from_name(const char *name, enum dlsi_isa *isa_out);

#define DLSI_PROCESSOR_NAME_BYTES 64

/* What the processor calls itself; "" where it does not. */
void dlsi_processor_name(char name_out[DLSI_PROCESSOR_NAME_BYTES]);

#endif
