#include "cli/retries.h"

#include "cli/failure.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_S 315360000.0 /* ten years */

static const char *const failures[CLI_FAILURES] = {"error", "time_limit", "input"};

/* Seconds behind a comma, as milliseconds; 0 if there are none. */
static bool read_wait(const char **at, uint64_t *ms_out)
{
	const char *text = *at;
	char *end;
	double seconds;

	*ms_out = 0;
	if (!*text)
		return true;
	if (*text++ != ',' || !isdigit((unsigned char)*text))
		return false;
	seconds = strtod(text, &end);
	*at = end;
	*ms_out = (uint64_t)(seconds <= LONGEST_S ? seconds * 1000 : 0);
	return seconds <= LONGEST_S;
}

static bool read_one(const char *text, struct dls_retry *retry_out)
{
	struct dls_retry retry = {0};
	char *end;

	for (int i = 0; i < CLI_FAILURES; i++) {
		size_t length = strlen(failures[i]);

		if (strncmp(text, failures[i], length) == 0 && text[length] == '=') {
			retry.failure = failures[i];
			text += length + 1;
			break;
		}
	}
	if (!retry.failure || !isdigit((unsigned char)*text))
		return false;
	retry.times = (uint32_t)strtoul(text, &end, 10);
	text = end;
	if (!read_wait(&text, &retry.wait_ms) || !read_wait(&text, &retry.wait_most_ms) || *text)
		return false;
	*retry_out = retry;
	return true;
}

int cli_retries_read(const struct cli_texts *texts, struct cli_retries *retries_out, struct dls_error *err)
{
	*retries_out = (struct cli_retries){0};
	for (size_t i = 0; i < texts->count; i++) {
		struct dls_retry retry;

		if (!read_one(texts->at[i], &retry))
			return cli_fail(err, DLS_EINVAL,
				"--retry is \"%.64s\"; it is error, time_limit or input, = and a number of times, and "
				"may go on with waits in seconds: error=3,0.5,60",
				texts->at[i]);
		for (size_t j = 0; j < i; j++)
			if (strcmp(retries_out->at[j].failure, retry.failure) == 0)
				return cli_fail(err, DLS_EINVAL, "--retry names \"%s\" twice", retry.failure);
		retries_out->at[i] = retry;
	}
	return 0;
}
