/* The inside of a script, for the files that make up the sandbox. */
#ifndef DLSI_POLICY_SCRIPT_STATE_H
#define DLSI_POLICY_SCRIPT_STATE_H

#include "base/rng.h"
#include "policy/script.h"
#include <lua.h>

/* What a script was stopped by. */
enum dlsi_script_limit {
	DLSI_SCRIPT_WITHIN,
	DLSI_SCRIPT_OVER_STEPS,
	DLSI_SCRIPT_OVER_MEMORY,
	DLSI_SCRIPT_OVER_BLOCK,
	DLSI_SCRIPT_OVER_STRING,
	DLSI_SCRIPT_STARVED, /* the process has no memory */
};

struct dlsi_script {
	const struct dlsi_alloc *alloc;
	lua_State *state; /* NULL while it is made */
	struct dlsi_rng rng;
	size_t bytes;
	uint64_t steps_left;
	enum dlsi_script_limit over;
};

struct dlsi_script *dlsi_script_of(lua_State *state);

/* What the next thing takes; does not return when the budget is spent. */
void dlsi_script_spend(lua_State *state, uint64_t steps);

/* Raises again what stopped the script, if anything did. */
void dlsi_script_reraise(lua_State *state);

/* script_library.c: puts the functions that there are in place of all others. May raise. */
void dlsi_script_furnish(lua_State *state);

#endif
