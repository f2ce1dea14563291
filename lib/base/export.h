/* What leaves the shared library: functions of the public headers are defined with DLS_EXPORT, all else is hidden. */
#ifndef DLSI_EXPORT_H
#define DLSI_EXPORT_H

#define DLS_EXPORT __attribute__((visibility("default")))

#endif
