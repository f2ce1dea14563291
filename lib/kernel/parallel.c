#include "kernel/parallel.h"

#ifdef _OPENMP
#include <omp.h>

static void in_team(int threads, int64_t count, dlsi_parallel_part *part, void *work)
{
#pragma omp parallel for schedule(dynamic) num_threads(threads)
	for (int64_t index = 0; index < count; index++)
		part(work, index, omp_get_thread_num());
}
#endif

int dlsi_parallel_threads(void)
{
#ifdef _OPENMP
	return omp_get_max_threads();
#else
	return 1;
#endif
}

void dlsi_parallel(int threads, int64_t count, dlsi_parallel_part *part, void *work)
{
#ifdef _OPENMP
	if (threads > 1 && count > 1) {
		in_team(threads < count ? threads : (int)count, count, part, work);
		return;
	}
#else
	(void)threads;
#endif
	for (int64_t index = 0; index < count; index++)
		part(work, index, 0);
}
