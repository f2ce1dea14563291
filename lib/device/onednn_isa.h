/* How far oneDNN may go on this processor: no further than our own kernels (kernel/isa.h). */
#ifndef DLSI_ONEDNN_ISA_H
#define DLSI_ONEDNN_ISA_H

#include "kernel/isa.h"

/* Chooses the instructions that a device may use, and where DLS_ISA names fewer than the processor has, limits oneDNN
 * to them: for the whole process, and for good. oneDNN takes the limit only before anybody has made a primitive with
 * it. Thread-safe. Errors: DLS_EINVAL (DLS_ISA names none), DLS_ESTATE (it is too late). */
int dlsi_onednn_isa(enum dlsi_isa *isa_out, struct dls_error *err);

#endif
