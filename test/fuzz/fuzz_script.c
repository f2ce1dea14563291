/* Any text as a user's script, run and called: whatever it does, it ends, and gives all memory back. */
#include "policy/script.h"
#include <lua.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static size_t blocks;

static void *resize(void *arg, void *old, size_t size)
{
	void *memory = dlsi_alloc_libc.resize(arg, old, size);

	if (size && memory)
		blocks += !old;
	else if (!size)
		blocks -= old != NULL;
	return memory;
}

static int build(lua_State *state, void *arg)
{
	(void)arg;
	lua_newtable(state);
	return 1;
}

static void take(lua_State *state, void *arg)
{
	(void)arg;
	lua_tolstring(state, 1, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	const struct dlsi_alloc alloc = {resize, NULL};
	const struct dlsi_script_call call = {"choose", build, take, NULL};
	struct dlsi_script *script;

	if (dlsi_script_create(&alloc, (const char *)data, length, 1, &script, NULL) == 0) {
		dlsi_script_run(script, &call, NULL);
		dlsi_script_destroy(script);
	}
	if (blocks)
		abort();
	return 0;
}
