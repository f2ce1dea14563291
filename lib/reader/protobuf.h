/* protobuf-c on our allocator, which tells exhausted memory from malformed bytes: it answers NULL to both. */
#ifndef DLSI_PROTOBUF_H
#define DLSI_PROTOBUF_H

#include "base/alloc.h"
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* For one message, from unpacking it to freeing it. Stays where it was initialised. */
struct dlsi_protobuf {
	ProtobufCAllocator allocator;
	const struct dlsi_alloc *alloc;
	bool exhausted; /* a request found no memory */
};

void dlsi_protobuf_init(struct dlsi_protobuf *protobuf, const struct dlsi_alloc *alloc);

#endif
