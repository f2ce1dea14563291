#include "test/unit/onnx.h"

#include "reader/load.h"
#include "test/unit/unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64, LINE_BYTES = 1024 };

void unit_onnx_varint(struct dlsi_buffer *buffer, uint64_t value)
{
	do {
		uint8_t byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);

		dlsi_buffer_append(buffer, &byte, 1);
		value >>= 7;
	} while (value);
}

void unit_onnx_bytes(struct dlsi_buffer *buffer, unsigned field, const void *data, size_t length)
{
	unit_onnx_varint(buffer, field << 3 | 2);
	unit_onnx_varint(buffer, length);
	dlsi_buffer_append(buffer, data, length);
}

void unit_onnx_number(struct dlsi_buffer *buffer, unsigned field, uint64_t value)
{
	unit_onnx_varint(buffer, field << 3);
	unit_onnx_varint(buffer, value);
}

float unit_random_float(struct dlsi_rng *rng)
{
	return (float)((double)(dlsi_rng_next(rng) >> 11) * 0x1p-52 - 1);
}

static void put_text(struct dlsi_buffer *buffer, unsigned field, const char *text)
{
	unit_onnx_bytes(buffer, field, text, strlen(text));
}

static void put_message(struct dlsi_buffer *buffer, unsigned field, struct dlsi_buffer *message)
{
	assert_false(message->failed);
	unit_onnx_bytes(buffer, field, message->data, message->length);
	dlsi_buffer_fini(message);
}

static void put_tensor(
	struct dlsi_buffer *graph, char **words, size_t rank, unsigned type, const void *data, size_t bytes)
{
	struct dlsi_buffer tensor;

	dlsi_buffer_init(&tensor, unit_alloc());
	for (size_t i = 0; i < rank; i++)
		unit_onnx_number(&tensor, 1, strtoull(words[2 + i], NULL, 10));
	unit_onnx_number(&tensor, 2, type);
	put_text(&tensor, 8, words[1]);
	unit_onnx_bytes(&tensor, 9, data, bytes);
	put_message(graph, 5, &tensor);
}

static void put_random(struct dlsi_buffer *graph, char **words, size_t count, struct dlsi_rng *rng)
{
	size_t rank = count - 2, elements = 1;
	float *data, scale;

	for (size_t i = 0; i < rank; i++)
		elements *= strtoull(words[2 + i], NULL, 10);
	scale = rank > 1 ? sqrtf(3.0F * strtof(words[2], NULL) / (float)elements) : 1;
	data = calloc(elements + 1, sizeof *data);
	assert_non_null(data);
	for (size_t i = 0; i < elements; i++)
		data[i] = *words[0] == 'p' ? 1 + unit_random_float(rng) / 2 : scale * unit_random_float(rng);
	put_tensor(graph, words, rank, 1, data, elements * sizeof *data);
	free(data);
}

static void put_halves(struct dlsi_buffer *graph, char **words, size_t count)
{
	struct dlsi_buffer tensor;
	uint16_t halves[WORDS];

	dlsi_buffer_init(&tensor, unit_alloc());
	unit_onnx_number(&tensor, 1, count - 2);
	unit_onnx_number(&tensor, 2, *words[0] == 'f' ? 10 : 16);
	put_text(&tensor, 8, words[1]);
	for (size_t i = 2; i < count; i++)
		halves[i - 2] = (uint16_t)strtoul(words[i], NULL, 16);
	for (size_t i = 2; i < count && strstr(words[1], "_typed"); i++)
		unit_onnx_number(&tensor, 5, halves[i - 2]);
	if (!strstr(words[1], "_typed"))
		unit_onnx_bytes(&tensor, 9, halves, (count - 2) * sizeof *halves);
	put_message(graph, 5, &tensor);
}

static void put_entry(struct dlsi_buffer *tensor, const char *key, const char *value)
{
	struct dlsi_buffer entry;

	if (strcmp(value, "-") == 0)
		return;
	dlsi_buffer_init(&entry, unit_alloc());
	put_text(&entry, 1, key);
	put_text(&entry, 2, value);
	put_message(tensor, 13, &entry);
}

static void put_away(struct dlsi_buffer *graph, char **words, size_t count)
{
	struct dlsi_buffer tensor;

	dlsi_buffer_init(&tensor, unit_alloc());
	for (size_t i = 5; i < count; i++)
		unit_onnx_number(&tensor, 1, strtoull(words[i], NULL, 10));
	unit_onnx_number(&tensor, 2, 1);
	put_text(&tensor, 8, words[1]);
	put_entry(&tensor, "location", words[2]);
	put_entry(&tensor, "offset", words[3]);
	put_entry(&tensor, "length", words[4]);
	put_entry(&tensor, "checksum", "0000");
	unit_onnx_number(&tensor, 14, 1);
	put_message(graph, 5, &tensor);
}

static void put_vector(struct dlsi_buffer *graph, char **words, size_t count)
{
	bool ints = *words[0] == 'i';
	union {
		float f[WORDS];
		int64_t i[WORDS];
	} data;
	char length[24];
	char *head[] = {words[0], words[1], length};

	for (size_t i = 2; i < count; i++)
		if (ints)
			data.i[i - 2] = strtoll(words[i], NULL, 10);
		else
			data.f[i - 2] = strtof(words[i], NULL);
	snprintf(length, sizeof length, "%zu", count - 2);
	put_tensor(graph, head, 1, ints ? 7 : 1, &data, (count - 2) * (ints ? sizeof *data.i : sizeof *data.f));
}

static void put_port(struct dlsi_buffer *graph, unsigned field, char **words, size_t count)
{
	struct dlsi_buffer info, type, tensor, shape;

	dlsi_buffer_init(&info, unit_alloc());
	dlsi_buffer_init(&type, unit_alloc());
	dlsi_buffer_init(&tensor, unit_alloc());
	dlsi_buffer_init(&shape, unit_alloc());
	for (size_t i = 2; i < count; i++) {
		struct dlsi_buffer dim;

		dlsi_buffer_init(&dim, unit_alloc());
		if (*words[i] == '?')
			put_text(&dim, 2, "N");
		else
			unit_onnx_number(&dim, 1, strtoull(words[i], NULL, 10));
		put_message(&shape, 1, &dim);
	}
	unit_onnx_number(&tensor, 1, 1);
	put_message(&tensor, 2, &shape);
	put_message(&type, 1, &tensor);
	put_text(&info, 1, words[1]);
	put_message(&info, 2, &type);
	put_message(graph, field, &info);
}

static void put_attribute(struct dlsi_buffer *node, char *word)
{
	char *kind = strchr(word, ':'), *value = kind ? kind + 3 : NULL;
	struct dlsi_buffer attribute;

	assert_non_null(kind);
	*kind++ = '\0';
	dlsi_buffer_init(&attribute, unit_alloc());
	put_text(&attribute, 1, word);
	if (*kind == 'i') {
		unit_onnx_number(&attribute, 3, (uint64_t)strtoll(value, NULL, 10));
	} else if (*kind == 'f') {
		float f = strtof(value, NULL);

		unit_onnx_varint(&attribute, 2 << 3 | 5);
		dlsi_buffer_append(&attribute, &f, sizeof f);
	} else if (*kind == 's') {
		put_text(&attribute, 4, value);
	} else {
		for (char *end = value; *value; value = *end ? end + 1 : end)
			unit_onnx_number(&attribute, 8, (uint64_t)strtoll(value, &end, 10));
	}
	unit_onnx_number(&attribute, 20, *kind == 'i' ? 2 : *kind == 'f' ? 1 : *kind == 's' ? 3 : 7);
	put_message(node, 5, &attribute);
}

static void put_node(struct dlsi_buffer *graph, char **words, size_t count)
{
	char name[LINE_BYTES] = "node";
	struct dlsi_buffer node;
	bool outputs = false;

	dlsi_buffer_init(&node, unit_alloc());
	for (size_t i = 2; i < count; i++) {
		if (strcmp(words[i], ">") == 0) {
			outputs = true;
			snprintf(name, sizeof name, "node_%s", words[i + 1]);
		} else if (strchr(words[i], ':')) {
			put_attribute(&node, words[i]);
		} else {
			put_text(&node, outputs ? 2 : 1, strcmp(words[i], "-") == 0 ? "" : words[i]);
		}
	}
	put_text(&node, 3, name);
	put_text(&node, 4, words[1]);
	put_message(graph, 1, &node);
}

static void put_statement(struct dlsi_buffer *graph, struct dlsi_rng *rng, char **words, size_t count, uint64_t *opset)
{
	if (strcmp(words[0], "opset") == 0)
		*opset = strtoull(words[1], NULL, 10);
	else if (strcmp(words[0], "in") == 0)
		put_port(graph, 11, words, count);
	else if (strcmp(words[0], "out") == 0)
		put_port(graph, 12, words, count);
	else if (strcmp(words[0], "const") == 0 || strcmp(words[0], "positive") == 0)
		put_random(graph, words, count, rng);
	else if (strcmp(words[0], "floats") == 0 || strcmp(words[0], "ints") == 0)
		put_vector(graph, words, count);
	else if (strcmp(words[0], "float16") == 0 || strcmp(words[0], "bfloat16") == 0)
		put_halves(graph, words, count);
	else if (strcmp(words[0], "away") == 0)
		put_away(graph, words, count);
	else if (strcmp(words[0], "node") == 0)
		put_node(graph, words, count);
	else
		fail_msg("no such statement: %s", words[0]);
}

void unit_onnx(struct dlsi_buffer *file_out, struct dlsi_rng *rng, const char *text)
{
	struct dlsi_buffer graph, opset;
	uint64_t version = 13;

	dlsi_buffer_init(file_out, unit_alloc());
	dlsi_buffer_init(&graph, unit_alloc());
	dlsi_buffer_init(&opset, unit_alloc());
	while (*text) {
		size_t length = strcspn(text, "\n"), count = 0;
		char line[LINE_BYTES], *words[WORDS], *rest = line;

		assert_true(length < sizeof line);
		memcpy(line, text, length);
		line[length] = '\0';
		for (char *word; count < WORDS && (word = strtok_r(rest, " \t", &rest));)
			words[count++] = word;
		if (count)
			put_statement(&graph, rng, words, count, &version);
		text += length + (text[length] == '\n');
	}
	unit_onnx_number(file_out, 1, 8);
	put_text(&opset, 1, "");
	unit_onnx_number(&opset, 2, version);
	put_message(file_out, 8, &opset);
	put_message(file_out, 7, &graph);
	assert_false(file_out->failed);
}

int unit_onnx_load(const struct dlsi_alloc *alloc, const struct dlsi_buffer *file, struct dlsi_graph **graph_out,
	struct dls_error *err)
{
	return dlsi_graph_load(alloc, &(struct dlsi_onnx){.file = file->data, .length = file->length}, graph_out, err);
}
