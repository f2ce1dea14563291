/* A data folder on a real disk, which one process at a time has. */
#ifndef DLSI_FOLDER_H
#define DLSI_FOLDER_H

#include "store/files.h"

struct dlsi_folder;

/* Takes the folder for this process. It is made if `create`, with mode 0700. Errors: DLS_EBUSY (another process has
 * it), DLS_ENOTFOUND, DLS_EIO, DLS_ENOMEM. */
int dlsi_folder_open(const struct dlsi_alloc *alloc, const char *path, bool create, struct dlsi_folder **folder_out,
	struct dls_error *err);

/* Lasts as long as the folder. */
struct dlsi_files *dlsi_folder_files(struct dlsi_folder *folder);

/* NULL is allowed. */
void dlsi_folder_close(struct dlsi_folder *folder);

#endif
