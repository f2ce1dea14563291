/* The version of these headers. The number before the first dot is also the library's SONAME: it changes when a program
 * that was linked before would no longer run. */
#ifndef DLSCHED_VERSION_H
#define DLSCHED_VERSION_H

#define DLS_VERSION "0.1.0"

#endif
