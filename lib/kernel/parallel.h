/* Work of a kernel on several threads: the only place of this room where there are any. */
#ifndef DLSI_PARALLEL_H
#define DLSI_PARALLEL_H

#include <stdint.h>

/* Does one part of the work; `thread`, below the number of threads, says whose scratch memory it may use. */
typedef void dlsi_parallel_part(void *work, int64_t index, int thread);

/* How many threads the team of the calling thread has: OMP_NUM_THREADS, or what the program set since. */
int dlsi_parallel_threads(void);

/* Calls `part` for each index from 0 to count - 1 and returns when all are done. The threads, `threads` at most, are
 * OpenMP's team of the calling thread; each takes the next index when it is done with one, so that a thread that is
 * kept from its core holds up nobody. With one thread no team is made. */
void dlsi_parallel(int threads, int64_t count, dlsi_parallel_part *part, void *work);

#endif
