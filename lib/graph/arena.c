#include "graph/arena.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 32 * 1024, LARGE_BYTES = 4096, SMALL_ALIGN = 16, LARGE_ALIGN = 64 };

struct dlsi_arena_block {
	struct dlsi_arena_block *next;
	size_t used; /* of `data` */
	size_t size;
	_Alignas(SMALL_ALIGN) unsigned char data[];
};

void dlsi_arena_init(struct dlsi_arena *arena, const struct dlsi_alloc *alloc)
{
	*arena = (struct dlsi_arena){.alloc = alloc};
}

void dlsi_arena_fini(struct dlsi_arena *arena)
{
	while (arena->blocks) {
		struct dlsi_arena_block *next = arena->blocks->next;

		dlsi_free(arena->alloc, arena->blocks);
		arena->blocks = next;
	}
}

static struct dlsi_arena_block *add_block(struct dlsi_arena *arena, size_t size)
{
	struct dlsi_arena_block *block;

	if (size > SIZE_MAX - sizeof *block)
		return NULL;
	block = dlsi_malloc(arena->alloc, sizeof *block + size);
	if (block) {
		*block = (struct dlsi_arena_block){.size = size};
		memset(block->data, 0, size);
	}
	return block;
}

/* A large piece gets a block of its own behind the first one, which goes on being filled. */
static void *take_large(struct dlsi_arena *arena, size_t bytes)
{
	struct dlsi_arena_block *block = bytes < SIZE_MAX - LARGE_ALIGN ? add_block(arena, bytes + LARGE_ALIGN) : NULL;

	if (!block)
		return NULL;
	block->used = block->size;
	if (arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		arena->blocks = block;
	}
	return block->data + (LARGE_ALIGN - (uintptr_t)block->data % LARGE_ALIGN) % LARGE_ALIGN;
}

void *dlsi_arena_take(struct dlsi_arena *arena, size_t count, size_t size)
{
	struct dlsi_arena_block *block = arena->blocks;
	size_t bytes;
	void *piece;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	if (bytes >= LARGE_BYTES)
		return take_large(arena, bytes);
	bytes = (bytes + SMALL_ALIGN - 1) / SMALL_ALIGN * SMALL_ALIGN;
	if (!block || block->size - block->used < bytes) {
		block = add_block(arena, BLOCK_BYTES);
		if (!block)
			return NULL;
		block->next = arena->blocks;
		arena->blocks = block;
	}
	piece = block->data + block->used;
	block->used += bytes;
	return piece;
}

char *dlsi_arena_strdup(struct dlsi_arena *arena, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = dlsi_arena_take(arena, bytes, 1);

	return copy ? memcpy(copy, text, bytes) : NULL;
}
