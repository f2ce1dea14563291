#include "reader/protobuf.h"

static void *take(void *arg, size_t size)
{
	struct dlsi_protobuf *protobuf = arg;
	void *piece = dlsi_malloc(protobuf->alloc, size ? size : 1);

	protobuf->exhausted |= !piece;
	return piece;
}

static void give(void *arg, void *piece)
{
	struct dlsi_protobuf *protobuf = arg;

	dlsi_free(protobuf->alloc, piece);
}

void dlsi_protobuf_init(struct dlsi_protobuf *protobuf, const struct dlsi_alloc *alloc)
{
	*protobuf = (struct dlsi_protobuf){
		.allocator = {.alloc = take, .free = give, .allocator_data = protobuf}, .alloc = alloc};
}
