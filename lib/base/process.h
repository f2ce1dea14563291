/* Which process made something, so that a child that it forks can be told apart: without a system call each time, by a
 * page that the kernel empties in every child. Where it has no such pages the process id is asked for. */
#ifndef DLSI_PROCESS_H
#define DLSI_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct dlsi_process {
	pid_t pid;
	atomic_bool *page; /* true here, false in children; NULL: the kernel has none */
};

void dlsi_process_note(struct dlsi_process *process_out);

/* In the process that noted it. */
void dlsi_process_drop(struct dlsi_process *process);

/* Any thread. */
bool dlsi_process_is_this(const struct dlsi_process *process);

#endif
