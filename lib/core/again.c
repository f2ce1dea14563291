#include "core/again.h"

#include "proto/bytes.h"
#include <string.h>

enum { NUMBERS = 3, BYTES = 8 * NUMBERS }; /* of one entry */

void dlsi_again_add(struct dlsi_buffer *buffer, const struct dlsi_again *again)
{
	struct dlsi_numbers list = dlsi_again_list(buffer);
	struct dlsi_again last = list.count ? dlsi_again_at(&list, list.count / NUMBERS - 1) : (struct dlsi_again){0};

	if (list.count && last.end == again->first && last.failure == again->failure) {
		dlsi_put_u64(buffer->data + buffer->length - BYTES + 8, again->end);
		return;
	}
	dlsi_write_u64(buffer, again->first);
	dlsi_write_u64(buffer, again->end);
	dlsi_write_u64(buffer, again->failure);
}

struct dlsi_numbers dlsi_again_list(const struct dlsi_buffer *buffer)
{
	return (struct dlsi_numbers){buffer->data, (uint32_t)(buffer->length / 8)};
}

bool dlsi_again_is_sound(const struct dlsi_numbers *list, uint64_t first, uint64_t end)
{
	if (list->count % NUMBERS)
		return false;
	for (uint32_t i = 0; i < list->count; i += NUMBERS) {
		uint64_t part = dlsi_numbers_at(list, i), part_end = dlsi_numbers_at(list, i + 1);

		if (part < first || part >= part_end || part_end > end || dlsi_numbers_at(list, i + 2) >= DLSI_FAILURES)
			return false;
		first = part_end;
	}
	return true;
}

uint32_t dlsi_again_count(const struct dlsi_numbers *list)
{
	return list->count / NUMBERS;
}

struct dlsi_again dlsi_again_at(const struct dlsi_numbers *list, uint32_t i)
{
	return (struct dlsi_again){
		.first = dlsi_numbers_at(list, NUMBERS * i),
		.end = dlsi_numbers_at(list, NUMBERS * i + 1),
		.failure = (enum dlsi_failure)dlsi_numbers_at(list, NUMBERS * i + 2),
	};
}

uint64_t dlsi_again_items(const struct dlsi_numbers *list)
{
	uint64_t items = 0;

	for (uint32_t i = 0; i < dlsi_again_count(list); i++) {
		struct dlsi_again again = dlsi_again_at(list, i);

		items += again.end - again.first;
	}
	return items;
}

bool dlsi_again_keep(const struct dlsi_alloc *alloc, struct dlsi_numbers *list)
{
	uint8_t *copy;

	if (!list->count)
		return true;
	copy = dlsi_malloc(alloc, 8 * (size_t)list->count);
	if (copy)
		memcpy(copy, list->data, 8 * (size_t)list->count);
	*list = (struct dlsi_numbers){copy, copy ? list->count : 0};
	return copy != NULL;
}

void dlsi_again_free(const struct dlsi_alloc *alloc, struct dlsi_numbers *list)
{
	if (list->count)
		dlsi_free(alloc, (uint8_t *)(uintptr_t)list->data);
	*list = (struct dlsi_numbers){0};
}

bool dlsi_finals_next(struct dlsi_finals *finals, struct dlsi_range *range_out)
{
	const struct dlsi_numbers *list = &finals->result->again;
	struct dlsi_range range = {.first = finals->at, .end = finals->result->end};

	for (; finals->next < dlsi_again_count(list); finals->next++) {
		struct dlsi_again again = dlsi_again_at(list, finals->next);

		if (again.first > range.first) {
			range.end = again.first;
			break;
		}
		range.first = again.end;
	}
	finals->at = range.end;
	*range_out = range;
	return range.first < range.end;
}
