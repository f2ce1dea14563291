/* The files that `dls-submit run` was given, and which items of the job each of them is. */
#ifndef DLSI_CLI_INPUTS_H
#define DLSI_CLI_INPUTS_H

#include <dlsched/job.h>
#include <stdio.h>

struct cli_input {
	const char *path;
	uint64_t first; /* its first item in the job ... */
	uint64_t count; /* ... and how many there are: 1, but for files that hold many */
};

struct cli_inputs {
	struct cli_input *at;
	size_t count, capacity;
	char **lists; /* the texts of @FILE arguments, which paths point into */
	size_t list_count;
	size_t shared; /* bytes of the folder that all paths begin with */
};

/* `arguments`: paths, and @FILE for a file that holds a path a line ("@-": standard input). The arguments must outlive
 * *inputs_out, which is to be given to fini in every case. Errors: as cli_file_read. */
int cli_inputs_init(const char *const *arguments, size_t count, struct cli_inputs *inputs_out, struct dls_error *err);
void cli_inputs_fini(struct cli_inputs *inputs);

/* Adds every file to the job, until a signal comes. Errors: as dls_job_add_file. */
int cli_inputs_add(struct cli_inputs *inputs, struct dls_job *job, struct dls_error *err);

/* The input that this item of the job comes from. */
const struct cli_input *cli_inputs_find(const struct cli_inputs *inputs, uint64_t item);

/* Writes "name" or, for the item of a file with many, "name[row]", without the folder that all share. Returns the
 * length, as snprintf does. */
int cli_inputs_name(const struct cli_inputs *inputs, uint64_t item, char *name, size_t bytes);

#endif
