#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_COLUMNS = 30, LINE_BYTES = 256, TERMINAL_MS = 100, FILE_MS = 1000 };

int64_t cli_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t cli_now_ms(void)
{
	return cli_now_us() / 1000;
}

void cli_progress_init(struct cli_progress *progress, int wanted)
{
	bool terminal = isatty(STDERR_FILENO);

	*progress = (struct cli_progress){
		.on = wanted > 0 || (wanted < 0 && terminal),
		.terminal = terminal,
		.start_ms = cli_now_ms(),
		.drawn_ms = INT64_MIN / 2,
	};
}

static int write_bar(char *line, const struct dls_job_progress *job)
{
	int filled = job->items ? (int)(job->done * BAR_COLUMNS / job->items) : BAR_COLUMNS;
	int length = 0;

	line[length++] = '[';
	for (int i = 0; i < BAR_COLUMNS; i++)
		line[length++] = i < filled ? '=' : i == filled ? '>' : ' ';
	line[length++] = ']';
	return length;
}

/* What the job waits for while nothing is done yet, afterwards how fast it goes. */
static int write_state(char *line, const struct cli_progress *progress, const struct dls_job_progress *job)
{
	double seconds = (double)(cli_now_ms() - progress->start_ms) / 1000;

	if (!job->accepted)
		return sprintf(line, "waiting for %s",
			!job->deferred               ? "the master"
			: job->deferred == DLS_EBUSY ? "room at the master"
						     : "a worker that is large enough");
	if (!job->workers)
		return sprintf(line, "waiting for a worker");
	return sprintf(line, "%.0f/s, %" PRIu32 " worker%s", seconds > 0 ? (double)job->done / seconds : 0,
		job->workers, job->workers == 1 ? "" : "s");
}

static int columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

static void write_line(const struct cli_progress *progress, const struct dls_job_progress *job)
{
	char line[LINE_BYTES];
	int length, width = columns();

	length = write_bar(line, job);
	length += sprintf(line + length, " %" PRIu64 "/%" PRIu64 "  ", job->done, job->items);
	if (job->failed)
		length += sprintf(line + length, "%" PRIu64 " failed  ", job->failed);
	length += write_state(line + length, progress, job);
	if (progress->terminal)
		fprintf(stderr, "\r%.*s\033[K", length < width ? length : width - 1, line);
	else
		fprintf(stderr, "%.*s\n", length, line);
}

void cli_progress_draw(struct cli_progress *progress, const struct dls_job_progress *job)
{
	int64_t now_ms = cli_now_ms();

	if (!progress->on || now_ms - progress->drawn_ms < (progress->terminal ? TERMINAL_MS : FILE_MS))
		return;
	progress->drawn_ms = now_ms;
	write_line(progress, job);
	progress->drawn = progress->terminal;
}

void cli_progress_clear(struct cli_progress *progress)
{
	if (!progress->drawn)
		return;
	fprintf(stderr, "\r\033[K");
	progress->drawn = false;
	progress->drawn_ms = INT64_MIN / 2;
}

void cli_progress_end(struct cli_progress *progress, const struct dls_job_progress *job)
{
	cli_progress_clear(progress);
	if (progress->on && !progress->terminal)
		write_line(progress, job);
	progress->on = false;
}
