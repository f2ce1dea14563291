/* A disk in memory, below store/files.h, that can lose what was not synced, tear writes into sectors, be full, fail,
 * and have its power cut at any write, sync or removal. */
#ifndef DLSI_UNIT_DISK_H
#define DLSI_UNIT_DISK_H

#include "base/rng.h"
#include "store/files.h"

enum { UNIT_DISK_FILES = 64, UNIT_DISK_NAME = 32, UNIT_DISK_SECTOR = 64 };

struct unit_disk_file {
	char name[UNIT_DISK_NAME];
	bool exists, named; /* now; and would after a crash */
	bool name_unsynced;
	uint8_t *data, *safe; /* now; and what is on the platter for certain */
	size_t length, safe_length;
};

struct unit_disk {
	struct dlsi_files files; /* first */
	struct dlsi_rng rng;
	struct unit_disk_file at[UNIT_DISK_FILES];
	unsigned count;
	uint64_t steps;    /* writes, syncs, removals so far */
	uint64_t crash_at; /* 0: never; this step and all after it fail with EIO and do nothing whole */
	uint64_t room;     /* bytes that writes may still add; UINT64_MAX: as many as they like */
	bool fails;        /* every sync */
	bool short_writes;
};

void unit_disk_init(struct unit_disk *disk, uint64_t seed);
void unit_disk_fini(struct unit_disk *disk);

/* Of what was not synced some is lost, sector by sector; then the disk works again. */
void unit_disk_crash(struct unit_disk *disk);

struct unit_disk_file *unit_disk_find(struct unit_disk *disk, const char *name);

/* The last file by name that begins so, or NULL. */
struct unit_disk_file *unit_disk_last(struct unit_disk *disk, const char *begin);

#endif
