/* Tells the thread sanitizer what it cannot see, because libzmq and libgomp are not instrumented: whoever gets
 * something from them gets it after everything that was done by the one who gave it. Elsewhere it is nothing. */
#ifndef DLSI_HANDOVER_H
#define DLSI_HANDOVER_H

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define DLSI_HANDOVER_IS_WATCHED
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define DLSI_HANDOVER_IS_WATCHED
#endif

#ifdef DLSI_HANDOVER_IS_WATCHED
#include <sanitizer/tsan_interface.h>

/* Before a thing is given away, and after it was got; the thing is known by its address. */
#define dlsi_handover_give(thing) __tsan_release(thing)
#define dlsi_handover_take(thing) __tsan_acquire(thing)
#else
#define dlsi_handover_give(thing) ((void)(thing))
#define dlsi_handover_take(thing) ((void)(thing))
#endif

#endif
