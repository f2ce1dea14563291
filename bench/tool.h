/* What the programs that dispatch tasks have in common, ours and those of peers: what a task returns, for the client to
 * check, and how times are told. */
#ifndef TOOL_H
#define TOOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of an item of eight bytes, its number, the complement. Of a larger one that of the sum of a number of each page of
 * its memory: all of it must have come, and as good as no time goes into adding. */
static inline uint64_t tool_value(const void *data, size_t bytes)
{
	uint64_t sum = 0, number;

	for (size_t at = 0; at + sizeof number <= bytes; at += 4096) {
		memcpy(&number, (const uint8_t *)data + at, sizeof number);
		sum += number;
	}
	return ~sum;
}

static inline void *tool_allocate(size_t count, size_t bytes)
{
	void *room = count && bytes ? calloc(count, bytes) : NULL;

	if (!room) {
		fprintf(stderr, "a count or a size is too small or too large\n");
		exit(1);
	}
	return room;
}

/* So many large items one after the other, no two alike anywhere, and what a task returns of each. */
static inline uint64_t *tool_make_items(size_t count, size_t bytes, uint64_t *values)
{
	uint64_t *numbers = tool_allocate(count, bytes);
	size_t length = bytes / sizeof *numbers;

	for (size_t i = 0; i < count * length; i++)
		numbers[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < count; i++)
		values[i] = tool_value(numbers + i * length, bytes);
	return numbers;
}

static inline void tool_print_rate(uint64_t count, int64_t nanoseconds)
{
	printf("%.1f\n", (double)count * 1e9 / (double)nanoseconds);
}

static inline int tool_compare_times(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The median and the 99th of 100, in microseconds. */
static inline void tool_print_times(int64_t *times_ns, size_t count)
{
	qsort(times_ns, count, sizeof *times_ns, tool_compare_times);
	printf("%.1f %.1f\n", (double)times_ns[count / 2] / 1e3, (double)times_ns[count * 99 / 100] / 1e3);
}

#endif
