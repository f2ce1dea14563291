#include "core/effect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dlsi_effects_init(struct dlsi_effects *effects, const struct dlsi_alloc *alloc)
{
	*effects = (struct dlsi_effects){.alloc = alloc, .deadline_ns = INT64_MAX};
	dlsi_buffer_init(&effects->arena, alloc);
}

void dlsi_effects_fini(struct dlsi_effects *effects)
{
	dlsi_free(effects->alloc, effects->at);
	dlsi_free(effects->alloc, effects->frames);
	dlsi_buffer_fini(&effects->arena);
}

void dlsi_effects_clear(struct dlsi_effects *effects)
{
	effects->count = 0;
	effects->frame_count = 0;
	dlsi_buffer_clear(&effects->arena);
}

/* Room for `more` elements behind `count`; the array, perhaps moved, or NULL. */
static void *reserve(const struct dlsi_alloc *alloc, void *at, size_t count, size_t more, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? *capacity : 32;
	void *grown;

	if (count + more <= *capacity)
		return at;
	while (wanted < count + more)
		wanted *= 2;
	grown = dlsi_realloc(alloc, at, wanted * size);
	if (grown)
		*capacity = wanted;
	return grown;
}

struct dlsi_effect *dlsi_effects_add(struct dlsi_effects *effects, enum dlsi_effect_kind kind)
{
	struct dlsi_effect *at =
		reserve(effects->alloc, effects->at, effects->count, 2, &effects->capacity, sizeof *effects->at);
	struct dlsi_effect *added;

	if (at) {
		effects->at = at;
		added = &at[effects->count++];
	} else {
		effects->failed = true;
		added = &effects->spare;
	}
	*added = (struct dlsi_effect){.kind = kind};
	return added;
}

size_t dlsi_effects_store(struct dlsi_effects *effects, const void *data, size_t length)
{
	size_t offset = effects->arena.length;

	dlsi_buffer_append(&effects->arena, data, length);
	effects->failed |= effects->arena.failed;
	return effects->arena.failed ? 0 : offset;
}

void dlsi_effects_release(struct dlsi_effects *effects, struct dlsi_payload payload)
{
	if (payload.handle)
		dlsi_effects_add(effects, DLSI_EFFECT_RELEASE)->payload = payload;
}

void dlsi_effects_log(struct dlsi_effects *effects, enum dls_log_level level, const char *format, ...)
{
	char line[DLS_ERROR_TEXT_BYTES];
	struct dls_error printable; /* names come from strangers, and lines go to terminals */
	va_list arguments;
	struct dlsi_effect *effect;
	size_t text;

	if (level > effects->log_level)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	dlsi_fail(&printable, 0, "%s", line);
	text = dlsi_effects_store(effects, printable.text, strlen(printable.text));
	effect = dlsi_effects_add(effects, DLSI_EFFECT_LOG);
	effect->log.level = level;
	effect->log.text = text;
	effect->log.text_length = strlen(printable.text);
}

void dlsi_effects_send(struct dlsi_effects *effects, struct dlsi_peer to, const uint8_t *block, size_t length,
	const uint64_t *frames, size_t frame_count)
{
	uint64_t *all = reserve(effects->alloc, effects->frames, effects->frame_count, frame_count,
		&effects->frame_capacity, sizeof *effects->frames);
	size_t offset = dlsi_effects_store(effects, block, length);
	struct dlsi_effect *effect;

	if (frame_count && !all) {
		effects->failed = true;
		return;
	}
	effect = dlsi_effects_add(effects, DLSI_EFFECT_SEND);
	effect->peer = to;
	effect->block = offset;
	effect->block_length = length;
	effect->frames = effects->frame_count;
	effect->frame_count = frame_count;
	if (frame_count) {
		effects->frames = all;
		memcpy(&all[effects->frame_count], frames, frame_count * sizeof *frames);
		effects->frame_count += frame_count;
	}
}

struct dlsi_text dlsi_effects_text(const struct dlsi_effects *effects, size_t offset, size_t length)
{
	return (struct dlsi_text){length ? (const char *)effects->arena.data + offset : "", (uint32_t)length};
}
