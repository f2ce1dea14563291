/* Lets the Python tests use the inside of media/: reads commands from standard input until it ends and answers each.
 *
 * A command is a line of words, the last of which is the number of bytes that follow the line. The answer is a line,
 * "ok BYTES WORD..." with that many bytes behind it, or "error CODE SENTENCE". */
#include "media/description.h"
#include "media/photo.h"
#include "media/prepare.h"
#include "media/resize.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, LINE_BYTES = 1024 };

struct command {
	char line[LINE_BYTES];
	char *words[WORDS];
	int count;
	uint8_t *data;
	size_t length;
};

static const struct dlsi_alloc *const alloc = &dlsi_alloc_libc;

static uint32_t number(const struct command *command, int word)
{
	return word < command->count ? (uint32_t)strtoul(command->words[word], NULL, 10) : 0;
}

static int answer_image(struct dlsi_image *image)
{
	size_t bytes = (size_t)image->width * image->height * image->channels;

	printf("ok %zu %u %u %u\n", bytes, image->width, image->height, image->channels);
	fwrite(image->pixels, 1, bytes, stdout);
	dlsi_image_fini(image);
	return 0;
}

/* decode BYTES: a photo; answers width, height, channels and pixels. */
static int decode(const struct command *command, struct dls_error *err)
{
	struct dlsi_image image;
	int rc = dlsi_photo_decode(alloc, command->data, command->length, &image, err);

	return rc ? rc : answer_image(&image);
}

/* resize WIDTH HEIGHT CHANNELS FILTER WIDTH HEIGHT LEFT TOP WIDTH HEIGHT BYTES: pixels; answers as decode. */
static int resize(const struct command *command, struct dls_error *err)
{
	struct dlsi_region region = {number(command, 7), number(command, 8), number(command, 9), number(command, 10)};
	struct dlsi_image image, resized;
	int rc = dlsi_image_init(&image, alloc, number(command, 1), number(command, 2), number(command, 3), err);

	if (rc)
		return rc;
	memcpy(image.pixels, command->data, command->length);
	rc = dlsi_resize(&image, (enum dlsi_filter)number(command, 4), number(command, 5), number(command, 6), &region,
		&resized, err);
	dlsi_image_fini(&image);
	return rc ? rc : answer_image(&resized);
}

/* describe BYTES: a model.json; answers nothing but that it is accepted. */
static int describe(const struct command *command, struct dls_error *err)
{
	struct dlsi_description description;
	int rc;

	dlsi_description_init(&description, alloc);
	rc = dlsi_description_parse(&description, "model.json", command->data, command->length, err);
	if (rc == 0)
		printf("ok 0\n");
	dlsi_description_fini(&description);
	return rc;
}

static int prepare_with(const struct command *command, const struct dlsi_description *description, size_t json_bytes,
	struct dls_error *err)
{
	const struct dlsi_input_description *how = dlsi_description_input(description, "x");
	uint32_t rank = number(command, 3);
	int64_t dims[DLS_TENSOR_RANK] = {0};
	struct dlsi_prepare plan;
	void *item;
	int rc;

	for (uint32_t i = 0; i < rank && i < DLS_TENSOR_RANK; i++)
		dims[i] = number(command, 4 + (int)i);
	rc = dlsi_prepare_init(&plan, "x", how, (enum dls_dtype)number(command, 2), rank, dims, err);
	if (rc)
		return rc;
	item = malloc(plan.bytes);
	rc = dlsi_prepare_file(&plan, alloc, command->data + json_bytes, command->length - json_bytes, item, err);
	if (rc == 0) {
		printf("ok %zu\n", plan.bytes);
		fwrite(item, 1, plan.bytes, stdout);
	}
	free(item);
	return rc;
}

/* prepare JSON_BYTES DTYPE RANK DIM... BYTES: a model.json that describes the input x, and a file; answers the item. */
static int prepare(const struct command *command, struct dls_error *err)
{
	size_t json_bytes = number(command, 1);
	struct dlsi_description description;
	int rc;

	dlsi_description_init(&description, alloc);
	rc = dlsi_description_parse(&description, "model.json", command->data, json_bytes, err);
	if (rc == 0)
		rc = prepare_with(command, &description, json_bytes, err);
	dlsi_description_fini(&description);
	return rc;
}

static void carry_out(const struct command *command)
{
	static const struct {
		const char *name;
		int (*run)(const struct command *command, struct dls_error *err);
	} commands[] = {
		{"decode", decode},
		{"describe", describe},
		{"prepare", prepare},
		{"resize", resize},
	};
	struct dls_error err = {0};

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(command->words[0], commands[i].name) == 0) {
			if (commands[i].run(command, &err))
				printf("error %s %s\n", dls_error_name(err.code), err.text);
			return;
		}
	printf("error none unknown command\n");
}

static int read_command(struct command *command)
{
	if (!fgets(command->line, sizeof command->line, stdin))
		return 0;
	command->count = 0;
	for (char *word = strtok(command->line, " \n"); word && command->count < WORDS; word = strtok(NULL, " \n"))
		command->words[command->count++] = word;
	if (command->count == 0)
		return 0;
	command->length = strtoul(command->words[command->count - 1], NULL, 10);
	command->data = malloc(command->length + 1);
	return command->data && fread(command->data, 1, command->length, stdin) == command->length;
}

int main(void)
{
	struct command command;

	while (read_command(&command)) {
		carry_out(&command);
		fflush(stdout);
		free(command.data);
	}
	return 0;
}
