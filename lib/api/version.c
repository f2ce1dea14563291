#include "base/export.h"
#include <dlsched/version.h>
#include <stddef.h>

#define TEXT(number)                 #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

DLS_EXPORT const char *dls_version(void)
{
	return VERSION(DLS_VERSION_MAJOR, DLS_VERSION_MINOR, DLS_VERSION_PATCH);
}

DLS_EXPORT const char *const *dls_features(void)
{
	static const char *const features[] = {"onednn", "jpeg", "png", "npy", "idx", NULL};

	return features;
}
