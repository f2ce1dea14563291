#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *resize_libc(void *arg, void *old, size_t size)
{
	(void)arg;
	if (size)
		return realloc(old, size);
	free(old);
	return NULL;
}

const struct dlsi_alloc dlsi_alloc_libc = {.resize = resize_libc};

#define LARGE_BYTES ((size_t)4 << 20)
#define PAGE_BYTES  ((size_t)2 << 20) /* a large one, of most processors */

/* Large memory on large pages, where the system has them to give: a fault per page costs more than to read a model, and
 * weights are walked through from page to page. */
static void ask_for_large_pages(void *memory, size_t size)
{
	const uintptr_t begin = ((uintptr_t)memory + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	const uintptr_t end = ((uintptr_t)memory + size) / PAGE_BYTES * PAGE_BYTES;

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void *dlsi_malloc(const struct dlsi_alloc *alloc, size_t size)
{
	void *memory = size ? alloc->resize(alloc->arg, NULL, size) : NULL;

	if (memory && size >= LARGE_BYTES)
		ask_for_large_pages(memory, size);
	return memory;
}

void *dlsi_calloc(const struct dlsi_alloc *alloc, size_t count, size_t size)
{
	void *memory;

	if (size && count > SIZE_MAX / size)
		return NULL;
	memory = dlsi_malloc(alloc, count * size);
	if (memory)
		memset(memory, 0, count * size);
	return memory;
}

void *dlsi_realloc(const struct dlsi_alloc *alloc, void *old, size_t size)
{
	return size ? alloc->resize(alloc->arg, old, size) : NULL;
}

void dlsi_free(const struct dlsi_alloc *alloc, void *memory)
{
	if (memory)
		alloc->resize(alloc->arg, memory, 0);
}

char *dlsi_strndup(const struct dlsi_alloc *alloc, const char *text, size_t length)
{
	char *copy = dlsi_malloc(alloc, length + 1);

	if (copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *dlsi_strdup(const struct dlsi_alloc *alloc, const char *text)
{
	return dlsi_strndup(alloc, text, strlen(text));
}
