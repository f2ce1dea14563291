#include "op/list.h"

#include <string.h>

#define ROW(name) &dlsi_op_##name,

const struct dlsi_op *const dlsi_op_list[] = {DLSI_OP_LIST(ROW)};
const size_t dlsi_op_count = sizeof dlsi_op_list / sizeof *dlsi_op_list;

const struct dlsi_op *dlsi_op_find(const char *name)
{
	for (size_t i = 0; i < dlsi_op_count; i++)
		if (strcmp(dlsi_op_list[i]->name, name) == 0)
			return dlsi_op_list[i];
	return NULL;
}

unsigned dlsi_op_version(const struct dlsi_op *op, int64_t opset)
{
	int64_t version = opset;

	while (version > 0 && !(op->defined & DLSI_OP_SINCE(version)))
		version--;
	return (unsigned)version;
}
