/* Which release this is and what it was built with. */
#ifndef DLSCHED_VERSION_H
#define DLSCHED_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_VERSION_MAJOR 0
#define DLS_VERSION_MINOR 1
#define DLS_VERSION_PATCH 0

/* "0.1.0", of the library that runs, not of the headers that were compiled against. */
const char *dls_version(void);

/* What is in this build, NULL-terminated: "onednn", "jpeg", "png", ... Static memory. */
const char *const *dls_features(void);

#ifdef __cplusplus
}
#endif
#endif
