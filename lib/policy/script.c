#include "policy/script.h"

#include "base/limits.h"
#include "policy/script_state.h"
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

enum { HOOK_STEPS = 1000, BYTES_PER_STEP = 64, STRING_HEAD_BYTES = 32 };

struct dlsi_script *dlsi_script_of(lua_State *state)
{
	void *script;

	lua_getallocf(state, &script);
	return script;
}

static void raise_limit(lua_State *state)
{
	lua_pushlightuserdata(state, dlsi_script_of(state)); /* takes no memory; who reports looks at `over` */
	lua_error(state);
}

static void count(lua_State *state, lua_Debug *event);

/* From now on every instruction raises. */
static void stop(struct dlsi_script *script, enum dlsi_script_limit limit)
{
	if (!script->over)
		script->over = limit;
	if (script->state)
		lua_sethook(script->state, count, LUA_MASKCOUNT, 1);
}

static void spend(struct dlsi_script *script, uint64_t steps)
{
	if (steps < script->steps_left)
		script->steps_left -= steps;
	else
		stop(script, DLSI_SCRIPT_OVER_STEPS);
}

static void count(lua_State *state, lua_Debug *event)
{
	(void)event;
	dlsi_script_spend(state, HOOK_STEPS);
}

void dlsi_script_spend(lua_State *state, uint64_t steps)
{
	spend(dlsi_script_of(state), steps);
	dlsi_script_reraise(state);
}

void dlsi_script_reraise(lua_State *state)
{
	if (dlsi_script_of(state)->over)
		raise_limit(state);
}

/* Whether Lua may have so much more. A refusal is final, although Lua collects its garbage and asks again: a script
 * that stays close to its limit would do that at every step. */
static bool may_grow(struct dlsi_script *script, size_t had, size_t size, bool is_string)
{
	if (is_string && size > DLSI_SCRIPT_STRING_BYTES + STRING_HEAD_BYTES)
		stop(script, DLSI_SCRIPT_OVER_STRING);
	else if (size > DLSI_SCRIPT_BLOCK_BYTES)
		stop(script, DLSI_SCRIPT_OVER_BLOCK);
	else if (size - had > DLSI_SCRIPT_MEMORY_BYTES - script->bytes)
		stop(script, DLSI_SCRIPT_OVER_MEMORY);
	else
		return true;
	return false;
}

static void *grow(struct dlsi_script *script, void *old, size_t had, size_t size, bool is_string)
{
	void *grown;

	if (!may_grow(script, had, size, is_string))
		return NULL;
	grown = dlsi_realloc(script->alloc, old, size);
	if (!grown) {
		stop(script, DLSI_SCRIPT_STARVED);
		return NULL;
	}
	spend(script, (size - had) / BYTES_PER_STEP);
	script->bytes += size - had;
	return grown;
}

/* Lua's allocator: `size_or_kind` is what `old` has, or without `old` the kind of what it is for. */
static void *resize(void *arg, void *old, size_t size_or_kind, size_t size)
{
	struct dlsi_script *script = arg;
	size_t had = old ? size_or_kind : 0;
	void *smaller;

	if (size > had)
		return grow(script, old, had, size, !old && size_or_kind == LUA_TSTRING);
	script->bytes -= had - size;
	if (!size) {
		dlsi_free(script->alloc, old);
		return NULL;
	}
	smaller = dlsi_realloc(script->alloc, old, size);
	return smaller ? smaller : old; /* Lua relies on it that making smaller never fails */
}

static int report_limit(enum dlsi_script_limit limit, struct dls_error *err)
{
	switch (limit) {
	case DLSI_SCRIPT_OVER_STEPS:
		return dlsi_fail(err, DLS_ELIMIT, "the script takes more than %d steps", DLSI_SCRIPT_STEPS);
	case DLSI_SCRIPT_OVER_MEMORY:
		return dlsi_fail(
			err, DLS_ELIMIT, "the script takes more than %d bytes of memory", DLSI_SCRIPT_MEMORY_BYTES);
	case DLSI_SCRIPT_OVER_BLOCK:
		return dlsi_fail(err, DLS_ELIMIT,
			"the script makes a table, or calls functions in one another, of more than %d bytes",
			DLSI_SCRIPT_BLOCK_BYTES);
	case DLSI_SCRIPT_OVER_STRING:
		return dlsi_fail(
			err, DLS_ELIMIT, "the script makes a string of more than %d bytes", DLSI_SCRIPT_STRING_BYTES);
	default:
		return dlsi_fail_memory(err);
	}
}

/* What came of a protected call, whose error is on top of the stack and leaves it. */
static int report(struct dlsi_script *script, int status, struct dls_error *err)
{
	lua_State *state = script->state;
	int rc = 0;

	lua_sethook(state, NULL, 0, 0);
	if (script->over)
		rc = report_limit(script->over, err);
	else if (status && lua_type(state, -1) == LUA_TSTRING)
		rc = dlsi_fail(err, DLS_EINVAL, "the script: %s", lua_tostring(state, -1));
	else if (status)
		rc = dlsi_fail(err, DLS_EINVAL, "the script raises an error that is no text");
	lua_settop(state, 0);
	return rc;
}

static int run(struct dlsi_script *script, lua_CFunction function, const void *arg, struct dls_error *err)
{
	lua_State *state = script->state;

	script->steps_left = DLSI_SCRIPT_STEPS;
	script->over = DLSI_SCRIPT_WITHIN;
	lua_sethook(state, count, LUA_MASKCOUNT, HOOK_STEPS);
	lua_pushcfunction(state, function);
	lua_pushlightuserdata(state, (void *)arg);
	return report(script, lua_pcall(state, 1, 0, 0), err);
}

struct text {
	const char *data;
	size_t length;
};

static int load(lua_State *state)
{
	const struct text *text = lua_touserdata(state, 1);

	dlsi_script_furnish(state);
	if (luaL_loadbufferx(state, text->data, text->length, "=script", "t"))
		lua_error(state);
	lua_call(state, 0, 0);
	return 0;
}

/* Behind a backslash: whether the escape gives a NUL. */
static bool is_nul_escape(const char *at, const char *end)
{
	bool hexadecimal = at < end && (*at == 'x' || *at == 'u');
	const char *digits = hexadecimal ? at + 1 : at, *last;

	if (digits < end && *at == 'u' && *digits == '{')
		digits++;
	for (last = digits; last < end && *last == '0'; last++)
		;
	if (last == digits)
		return false;
	if (hexadecimal) /* \x takes two digits, \u{ } ends with a brace */
		return *at == 'x' ? last - digits >= 2 : last == end || *last == '}';
	return last - digits >= 3 || last == end || *last < '0' || *last > '9';
}

/* `_ENV` is refused for the compiler's sake: Lua 5.4.4 makes wrong code of a constant one. */
static int check_text(const char *text, size_t length, struct dls_error *err)
{
	const char *end = text + length;

	if (length > DLSI_SCRIPT_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "the script is longer than %d bytes", DLSI_SCRIPT_BYTES);
	if (memchr(text, '\0', length))
		return dlsi_fail(err, DLS_EINVAL, "the script holds a NUL byte");
	if (memmem(text, length, "_ENV", 4))
		return dlsi_fail(err, DLS_EINVAL, "the script names _ENV, which scripts cannot use");
	for (const char *at = text; at < end; at++) {
		if (*at != '\\')
			continue;
		if (is_nul_escape(++at, end))
			return dlsi_fail(
				err, DLS_EINVAL, "the script writes a NUL with a backslash; strings hold none");
	}
	return 0;
}

int dlsi_script_create(const struct dlsi_alloc *alloc, const char *text, size_t length, uint64_t seed,
	struct dlsi_script **script_out, struct dls_error *err)
{
	struct text whole = {text, length};
	struct dlsi_script *script;
	int rc = check_text(text, length, err);

	if (rc)
		return rc;
	script = dlsi_calloc(alloc, 1, sizeof *script);
	if (!script)
		return dlsi_fail_memory(err);
	script->alloc = alloc;
	script->steps_left = DLSI_SCRIPT_STEPS;
	dlsi_rng_init(&script->rng, seed);
	script->state = lua_newstate(resize, script);
	rc = script->state ? run(script, load, &whole, err) : dlsi_fail_memory(err);
	if (rc) {
		dlsi_script_destroy(script);
		return rc;
	}
	*script_out = script;
	return 0;
}

void dlsi_script_destroy(struct dlsi_script *script)
{
	if (!script)
		return;
	if (script->state)
		lua_close(script->state);
	dlsi_free(script->alloc, script);
}

static int call_function(lua_State *state)
{
	const struct dlsi_script_call *call = lua_touserdata(state, 1);
	int arguments;

	lua_settop(state, 0);
	if (lua_getglobal(state, call->function) != LUA_TFUNCTION)
		luaL_error(state, "it defines no function %s", call->function);
	arguments = call->build(state, call->arg);
	lua_call(state, arguments, 1);
	call->take(state, call->arg);
	return 0;
}

int dlsi_script_run(struct dlsi_script *script, const struct dlsi_script_call *call, struct dls_error *err)
{
	return run(script, call_function, call, err);
}
