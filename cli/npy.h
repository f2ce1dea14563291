/* .npy files: tensors of one shape, stacked as they come, or one tensor as it is. The file appears under its name when
 * it is complete. */
#ifndef DLSI_CLI_NPY_H
#define DLSI_CLI_NPY_H

#include "cli/file.h"
#include <dlsched/error.h>
#include <dlsched/tensor.h>

struct cli_npy {
	struct cli_new_file file;
	uint64_t items;          /* there will be */
	uint64_t missing;        /* so far, while no tensor has come that says the shape */
	struct dls_tensor shape; /* of each; without data. dtype 0: not known yet */
};

/* `path` is kept. Errors: DLS_EIO, DLS_ENOMEM; nothing is to be given to fini then. */
int cli_npy_init(const char *path, uint64_t items, struct cli_npy *npy_out, struct dls_error *err);

/* The next item. NULL: it has no value; all its bits are set, which is NaN, -1 or the largest number of the type.
 * Errors: DLS_EIO, DLS_EFORMAT (another shape than the first). */
int cli_npy_add(struct cli_npy *npy, const struct dls_tensor *tensor, struct dls_error *err);

/* All items were added. Without any tensor there is no shape and no file. Errors: DLS_EIO. */
int cli_npy_finish(struct cli_npy *npy, struct dls_error *err);

/* Drops the file if it was not finished. */
void cli_npy_fini(struct cli_npy *npy);

/* Writes the tensor. Errors: as cli_npy_init, cli_npy_finish. */
int cli_npy_write(const char *path, const struct dls_tensor *tensor, struct dls_error *err);

#endif
