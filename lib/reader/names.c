#include "reader/names.h"

#include <stdlib.h>
#include <string.h>

int dlsi_names_init(struct dlsi_names *names, const struct dlsi_alloc *alloc, size_t capacity)
{
	*names = (struct dlsi_names){.alloc = alloc, .capacity = capacity};
	names->at = dlsi_calloc(alloc, capacity ? capacity : 1, sizeof *names->at);
	return names->at ? 0 : DLS_ENOMEM;
}

void dlsi_names_fini(struct dlsi_names *names)
{
	dlsi_free(names->alloc, names->at);
}

void dlsi_names_add(struct dlsi_names *names, const char *name, enum dlsi_definition_kind kind, uint32_t value)
{
	names->at[names->count++] = (struct dlsi_definition){.name = name, .kind = kind, .value = value};
}

static int compare(const void *left, const void *right)
{
	const struct dlsi_definition *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (!order)
		order = (a->kind > b->kind) - (a->kind < b->kind);
	return order ? order : (a->value > b->value) - (a->value < b->value);
}

int dlsi_names_close(struct dlsi_names *names, struct dls_error *err)
{
	qsort(names->at, names->count, sizeof *names->at, compare);
	for (size_t i = 1; i < names->count; i++) {
		const struct dlsi_definition *a = &names->at[i - 1], *b = &names->at[i];

		if (strcmp(a->name, b->name) == 0 &&
			!(a->kind == DLSI_DEFINED_CONSTANT && b->kind == DLSI_DEFINED_INPUT))
			return dlsi_fail(err, DLS_EFORMAT, "the value '%s' is defined twice", a->name);
	}
	return 0;
}

const struct dlsi_definition *dlsi_names_find(const struct dlsi_names *names, const char *name)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(names->at[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < names->count && strcmp(names->at[low].name, name) == 0 ? &names->at[low] : NULL;
}
