#include "net/pool.h"

#include "base/limits.h"
#include "base/list.h"
#include <pthread.h>

struct dlsi_pool {
	const struct dlsi_alloc *alloc;
	pthread_mutex_t mutex;
	struct dlsi_list kept; /* the one let go first is first */
	size_t count;
	size_t bytes;
	size_t references;
};

struct buffer {
	struct dlsi_list node;
	struct dlsi_pool *pool;
	size_t length;
	uint8_t bytes[];
};

struct dlsi_pool *dlsi_pool_create(const struct dlsi_alloc *alloc)
{
	struct dlsi_pool *pool = dlsi_calloc(alloc, 1, sizeof *pool);

	if (!pool)
		return NULL;
	pool->alloc = alloc;
	pool->references = 1;
	dlsi_list_init(&pool->kept);
	pthread_mutex_init(&pool->mutex, NULL);
	return pool;
}

/* Under the mutex. */
static struct buffer *take_out(struct dlsi_pool *pool, struct buffer *buffer)
{
	dlsi_list_remove(&buffer->node);
	pool->count--;
	pool->bytes -= buffer->length;
	return buffer;
}

/* Under the mutex: one that is too much; NULL if there is none. */
static struct buffer *surplus(struct dlsi_pool *pool)
{
	if (pool->count <= DLSI_POOL_BUFFERS && pool->bytes <= DLSI_POOL_BYTES)
		return NULL;
	return take_out(pool, dlsi_list_entry(pool->kept.next, struct buffer, node));
}

static void destroy(struct dlsi_pool *pool)
{
	dlsi_list_each (node, &pool->kept)
		dlsi_free(pool->alloc, take_out(pool, dlsi_list_entry(node, struct buffer, node)));
	pthread_mutex_destroy(&pool->mutex);
	dlsi_free(pool->alloc, pool);
}

void dlsi_pool_unref(struct dlsi_pool *pool)
{
	bool last;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->mutex);
	last = --pool->references == 0;
	pthread_mutex_unlock(&pool->mutex);
	if (last)
		destroy(pool);
}

/* Nobody sees the frame any more. */
static void let_go(void *arg, const void *data)
{
	struct buffer *buffer = arg, *old;
	struct dlsi_pool *pool = buffer->pool;

	(void)data;
	pthread_mutex_lock(&pool->mutex);
	dlsi_list_append(&pool->kept, &buffer->node);
	pool->count++;
	pool->bytes += buffer->length;
	while ((old = surplus(pool)))
		dlsi_free(pool->alloc, old);
	pthread_mutex_unlock(&pool->mutex);
	dlsi_pool_unref(pool);
}

static struct buffer *find(struct dlsi_pool *pool, size_t length)
{
	struct buffer *found = NULL;

	pthread_mutex_lock(&pool->mutex);
	dlsi_list_each (node, &pool->kept) {
		struct buffer *buffer = dlsi_list_entry(node, struct buffer, node);

		if (buffer->length == length)
			found = buffer;
	}
	if (found)
		take_out(pool, found);
	pthread_mutex_unlock(&pool->mutex);
	return found;
}

struct dlsi_frame *dlsi_pool_frame(struct dlsi_pool *pool, size_t length, uint8_t **bytes_out)
{
	struct buffer *buffer = find(pool, length);
	struct dlsi_frame *frame;

	if (!buffer && length < SIZE_MAX / 2)
		buffer = dlsi_malloc(pool->alloc, sizeof *buffer + length);
	if (!buffer)
		return NULL;
	buffer->pool = pool;
	buffer->length = length;
	dlsi_list_init(&buffer->node);
	frame = dlsi_frame_wrap(pool->alloc, buffer->bytes, length, let_go, buffer);
	if (!frame) {
		dlsi_free(pool->alloc, buffer);
		return NULL;
	}
	pthread_mutex_lock(&pool->mutex);
	pool->references++;
	pthread_mutex_unlock(&pool->mutex);
	*bytes_out = buffer->bytes;
	return frame;
}
