/* Work of a kernel on several threads: the only place of this room where there are any. */
#ifndef DLSI_PARALLEL_H
#define DLSI_PARALLEL_H

#include <stdint.h>

/* Does one part of the work; `thread`, below the number of threads, says whose scratch memory it may use. */
typedef void dlsi_parallel_part(void *work, int64_t index, int thread);

/* How many threads a team has where nobody says how many: OMP_NUM_THREADS, else `processors`. */
int dlsi_parallel_usual(uint32_t processors);

/* How many threads the team of the calling thread has: as set here, or in its program by OpenMP's means. */
int dlsi_parallel_threads(void);

/* Sets that, for kernels of this room and of oneDNN that the calling thread makes or runs from now on; costs next to
 * nothing. Only for threads of the library's own, or to be set back before it returns to the program. */
void dlsi_parallel_set_threads(int threads);

/* Calls `part` for each index from 0 to count - 1 and returns when all are done. The threads, `threads` at most, are
 * OpenMP's team of the calling thread; each takes the next index when it is done with one, so that a thread that is
 * kept from its core holds up nobody. With one thread no team is made; else it is all of them even for fewer parts,
 * since libgomp ends the threads that a smaller team does not need, and makes new ones for the next. */
void dlsi_parallel(int threads, int64_t count, dlsi_parallel_part *part, void *work);

/* Calls `body`, and lets the team stand by meanwhile (kernel/standby.h): dlsi_parallel of as many threads, called by
 * `body` on this thread, hands its parts to those of them who are awake, and does not call the team together. All else
 * that would use a team runs on one thread in it, oneDNN's primitives too. With one thread it is only a call. */
typedef void dlsi_parallel_body(void *arg);
void dlsi_parallel_hold(int threads, dlsi_parallel_body *body, void *arg);

#endif
