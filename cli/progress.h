/* How far a job is, on one line of standard error that is written over again and again: a bar, counts, speed. Where
 * standard error is no terminal but progress is wanted, a line a second. */
#ifndef DLSI_CLI_PROGRESS_H
#define DLSI_CLI_PROGRESS_H

#include <dlsched/job.h>
#include <stdbool.h>

struct cli_progress {
	bool on;
	bool terminal;
	bool drawn; /* a line stands there that is to be written over */
	int64_t start_ms;
	int64_t drawn_ms;
};

/* `wanted`: 1 yes, 0 no, -1 on a terminal only. */
void cli_progress_init(struct cli_progress *progress, int wanted);

/* Draws at most ten times a second, or once a second where there is no terminal. */
void cli_progress_draw(struct cli_progress *progress, const struct dls_job_progress *job);

/* Takes the line away, before something else is written to the terminal. */
void cli_progress_clear(struct cli_progress *progress);

/* The job is over: the line goes, or where there is no terminal, a last one is written. */
void cli_progress_end(struct cli_progress *progress, const struct dls_job_progress *job);

/* Milliseconds and microseconds of a clock that never goes back. */
int64_t cli_now_ms(void);
int64_t cli_now_us(void);

#endif
