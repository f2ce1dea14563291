/* A user's Lua script in a sandbox: it computes, and can neither reach outside nor go on without end.
 *
 * What it has is a list of functions (script_library.c); what is not on it is not there: nothing that loads, reads or
 * writes, no bytecode, coroutines, metatables, finalisers or patterns. A call has a budget of steps, the instructions
 * counted by a hook and, for what a single instruction can do much of, the functions and the memory that is asked for;
 * memory has a limit, and every string one of its own. Whoever hits a limit is raised from every instruction that
 * follows, and pcall raises again, so that nothing catches it. A string holds no NUL: comparing strings that are full
 * of them takes longer than an instruction may.
 *
 * A script replays: `pairs` goes by sorted keys, math.random is seeded by the caller, and no text shows an address. Two
 * things are beyond it, because Lua draws a seed of its own for its tables: the length (#) of a table with holes, and
 * how a script ends that comes within a little of a limit.
 *
 * Pure, not thread-safe. Exhausted memory is an error like any other: everything that can raise runs in a protected
 * call. */
#ifndef DLSI_POLICY_SCRIPT_H
#define DLSI_POLICY_SCRIPT_H

#include "base/alloc.h"
#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

struct dlsi_script;
struct lua_State;

/* Reads the text and runs it once, so that it defines its functions. Errors: DLS_EINVAL (it is no Lua, raises an error,
 * or names what scripts cannot use; the sentence says where), DLS_ELIMIT (too long, or over one of its limits),
 * DLS_ENOMEM. */
int dlsi_script_create(const struct dlsi_alloc *alloc, const char *text, size_t length, uint64_t seed,
	struct dlsi_script **script_out, struct dls_error *err);

/* NULL is allowed. */
void dlsi_script_destroy(struct dlsi_script *script);

/* What the caller does inside a call, within its limits; both may raise Lua errors, and whatever they hold beside the
 * Lua state must stand that. `build` pushes the arguments and returns their number; `take` finds the result at index 1.
 */
struct dlsi_script_call {
	const char *function; /* a global of the script */
	int (*build)(struct lua_State *state, void *arg);
	void (*take)(struct lua_State *state, void *arg);
	void *arg;
};

/* Errors: DLS_EINVAL (there is no such function, or an error was raised), DLS_ELIMIT (over a limit), DLS_ENOMEM. The
 * script can be called again after each of them. */
int dlsi_script_run(struct dlsi_script *script, const struct dlsi_script_call *call, struct dls_error *err);

#endif
