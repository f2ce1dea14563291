/* What scripts can call. A function of Lua's own is there as it is where it takes no longer than an instruction should,
 * and counted where it does; where it could reach out, run on in C, differ from run to run or catch what must not be
 * caught, there is one of ours or none. */
#include "base/limits.h"
#include "policy/script_state.h"

#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	BYTES_PER_STEP = 8,
	SORT_STEPS = 16, /* for each of what is sorted: comparisons, by their logarithm */
	WALK_STEPS = 50, /* to see that the largest table is empty */
	UNPACKED = 250,
};

/* ---- errors */

static int protected_call(lua_State *state)
{
	int status;

	luaL_checkany(state, 1);
	status = lua_pcall(state, lua_gettop(state) - 1, LUA_MULTRET, 0);
	dlsi_script_reraise(state);
	lua_pushboolean(state, !status);
	lua_insert(state, 1);
	return lua_gettop(state);
}

/* The handler is called behind the error and not at it, which only a traceback would show; what it raises is told in
 * place of what it returns. */
static int protected_call_with_handler(lua_State *state)
{
	int status;

	luaL_checktype(state, 2, LUA_TFUNCTION);
	lua_pushvalue(state, 1); /* the two change places */
	lua_remove(state, 1);
	lua_insert(state, 2);
	status = lua_pcall(state, lua_gettop(state) - 2, LUA_MULTRET, 0);
	dlsi_script_reraise(state);
	if (status)
		lua_pcall(state, 1, LUA_MULTRET, 0); /* the handler with the error */
	else
		lua_remove(state, 1);
	dlsi_script_reraise(state);
	lua_pushboolean(state, !status);
	lua_insert(state, 1);
	return lua_gettop(state);
}

/* ---- values */

/* A text or a number is what it says; of others only the type is told, since the rest is an address. */
static void push_text(lua_State *state, int index)
{
	switch (lua_type(state, index)) {
	case LUA_TNIL:
		lua_pushliteral(state, "nil");
		break;
	case LUA_TBOOLEAN:
		lua_pushstring(state, lua_toboolean(state, index) ? "true" : "false");
		break;
	case LUA_TSTRING:
	case LUA_TNUMBER:
		lua_pushvalue(state, index);
		lua_tostring(state, -1);
		break;
	default:
		lua_pushstring(state, luaL_typename(state, index));
	}
}

static int to_string(lua_State *state)
{
	luaL_checkany(state, 1);
	push_text(state, 1);
	return 1;
}

/* ---- pairs by sorted keys */

struct key {
	int type;
	bool is_integer;
	lua_Integer integer;
	double number;
	const char *text;
	size_t length;
	lua_Integer place; /* among the keys as they were found */
};

static int compare_numbers(const struct key *a, const struct key *b)
{
	if (a->is_integer && b->is_integer)
		return a->integer < b->integer ? -1 : a->integer > b->integer;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_texts(const struct key *a, const struct key *b)
{
	int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);

	return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type == LUA_TNUMBER)
		return compare_numbers(a, b);
	if (a->type == LUA_TSTRING)
		return compare_texts(a, b);
	return a->integer < b->integer ? -1 : a->integer > b->integer;
}

static struct key read_key(lua_State *state, int index, lua_Integer place)
{
	struct key key = {.type = lua_type(state, index), .place = place};

	switch (key.type) {
	case LUA_TBOOLEAN:
		key.integer = lua_toboolean(state, index);
		break;
	case LUA_TNUMBER:
		key.is_integer = lua_isinteger(state, index);
		key.integer = key.is_integer ? lua_tointeger(state, index) : 0;
		key.number = lua_tonumber(state, index);
		break;
	case LUA_TSTRING:
		key.text = lua_tolstring(state, index, &key.length);
		break;
	default:
		luaL_error(state, "pairs: a key is a %s; only texts, numbers and booleans have an order",
			luaL_typename(state, index));
	}
	return key;
}

static lua_Integer count_keys(lua_State *state)
{
	lua_Integer count = 0;

	for (lua_pushnil(state); lua_next(state, 1); lua_pop(state, 1))
		count++;
	return count;
}

/* Pushes a table of the keys of the table at 1, in their order. */
static void push_sorted_keys(lua_State *state)
{
	lua_Integer count = count_keys(state), i = 0;
	struct key *keys;

	dlsi_script_spend(state, (uint64_t)count * SORT_STEPS);
	lua_createtable(state, (int)count, 0); /* as they are found: holds the texts */
	keys = lua_newuserdatauv(state, (size_t)count * sizeof *keys, 0);
	for (lua_pushnil(state); lua_next(state, 1); lua_pop(state, 1), i++) {
		keys[i] = read_key(state, -2, i + 1);
		lua_pushvalue(state, -2);
		lua_rawseti(state, 2, i + 1);
	}
	qsort(keys, (size_t)count, sizeof *keys, compare_keys);
	lua_createtable(state, (int)count, 0);
	for (i = 0; i < count; i++) {
		lua_rawgeti(state, 2, keys[i].place);
		lua_rawseti(state, -2, i + 1);
	}
}

/* Upvalues: the sorted keys, how many have been visited. A key that is gone by now is left out. */
static int next_pair(lua_State *state)
{
	lua_Integer visited = lua_tointeger(state, lua_upvalueindex(2));

	luaL_checktype(state, 1, LUA_TTABLE);
	for (;;) {
		lua_settop(state, 1);
		if (lua_rawgeti(state, lua_upvalueindex(1), ++visited) == LUA_TNIL)
			return 1;
		lua_pushvalue(state, 2);
		if (lua_rawget(state, 1) != LUA_TNIL)
			break;
		dlsi_script_spend(state, 1);
	}
	lua_pushinteger(state, visited);
	lua_replace(state, lua_upvalueindex(2));
	return 2;
}

static int pairs(lua_State *state)
{
	luaL_checktype(state, 1, LUA_TTABLE);
	lua_settop(state, 1);
	dlsi_script_spend(state, WALK_STEPS);
	push_sorted_keys(state);
	lua_pushinteger(state, 0);
	lua_pushcclosure(state, next_pair, 2);
	lua_pushvalue(state, 1);
	return 2;
}

/* ---- math */

static int random_number(lua_State *state)
{
	struct dlsi_rng *rng = &dlsi_script_of(state)->rng;
	int arguments = lua_gettop(state);
	lua_Integer low = arguments > 1 ? luaL_checkinteger(state, 1) : 1;
	lua_Integer high = arguments > 0 ? luaL_checkinteger(state, arguments > 1 ? 2 : 1) : 0;
	uint64_t span;

	if (!arguments) {
		lua_pushnumber(state, (double)(dlsi_rng_next(rng) >> 11) * 0x1p-53);
		return 1;
	}
	luaL_argcheck(state, low <= high, arguments > 1 ? 2 : 1, "the interval is empty");
	span = (uint64_t)high - (uint64_t)low + 1;
	lua_pushinteger(state, (lua_Integer)((uint64_t)low + (span ? dlsi_rng_below(rng, span) : dlsi_rng_next(rng))));
	return 1;
}

/* ---- functions of Lua, counted; upvalue 1 is the function itself */

static int call_counted(lua_State *state, uint64_t steps)
{
	dlsi_script_spend(state, steps);
	lua_pushvalue(state, lua_upvalueindex(1));
	lua_insert(state, 1);
	lua_call(state, lua_gettop(state) - 1, LUA_MULTRET);
	return lua_gettop(state);
}

static int counted_by_texts(lua_State *state)
{
	uint64_t bytes = 0;

	for (int i = 1; i <= lua_gettop(state); i++)
		bytes += lua_type(state, i) == LUA_TSTRING ? lua_rawlen(state, i) : 0;
	return call_counted(state, 1 + bytes / BYTES_PER_STEP);
}

static int counted_by_table(lua_State *state)
{
	luaL_checktype(state, 1, LUA_TTABLE);
	return call_counted(state, 1 + lua_rawlen(state, 1));
}

static int insert(lua_State *state)
{
	luaL_checktype(state, 1, LUA_TTABLE);
	return call_counted(state, lua_gettop(state) > 2 ? 1 + lua_rawlen(state, 1) : 1);
}

static int sort(lua_State *state)
{
	luaL_checktype(state, 1, LUA_TTABLE);
	return call_counted(state, 1 + SORT_STEPS * (uint64_t)lua_rawlen(state, 1));
}

static int unpack(lua_State *state)
{
	lua_Integer first = luaL_optinteger(state, 2, 1), last;

	luaL_checktype(state, 1, LUA_TTABLE);
	last = luaL_opt(state, luaL_checkinteger, 3, (lua_Integer)lua_rawlen(state, 1));
	if (first <= last && (uint64_t)last - (uint64_t)first >= UNPACKED)
		luaL_error(state, "unpack: more than %d values", UNPACKED);
	return call_counted(state, 1);
}

/* ---- texts */

static int repeat(lua_State *state)
{
	size_t length, between;
	const char *text = luaL_checklstring(state, 1, &length);
	lua_Integer times = luaL_checkinteger(state, 2);
	const char *separator = luaL_optlstring(state, 3, "", &between);
	luaL_Buffer buffer;

	if (times > DLSI_SCRIPT_STRING_BYTES ||
		(times > 0 && (uint64_t)times * (length + between) > DLSI_SCRIPT_STRING_BYTES))
		luaL_error(state, "rep: the text would be longer than %d bytes", DLSI_SCRIPT_STRING_BYTES);
	dlsi_script_spend(state, 1 + (times > 0 ? (uint64_t)times * (1 + (length + between) / BYTES_PER_STEP) : 0));
	luaL_buffinit(state, &buffer);
	for (lua_Integer i = 0; i < times; i++) {
		if (i)
			luaL_addlstring(&buffer, separator, between);
		luaL_addlstring(&buffer, text, length);
	}
	luaL_pushresult(&buffer);
	return 1;
}

/* Plain text only. With what would be a pattern it must be asked for in so many words, as in Lua. */
static int find(lua_State *state)
{
	size_t length, sought_length;
	const char *text = luaL_checklstring(state, 1, &length), *at;
	const char *sought = luaL_checklstring(state, 2, &sought_length);
	lua_Integer first = luaL_optinteger(state, 3, 1);

	if (!lua_toboolean(state, 4) && strpbrk(sought, "^$*+?.([%-"))
		luaL_error(state, "find: there are no patterns; find(text, \"%s\", 1, true) seeks it as it is", sought);
	dlsi_script_spend(state, 1 + (length + sought_length) / BYTES_PER_STEP);
	if (first < 0)
		first = first < -(lua_Integer)length ? 1 : first + (lua_Integer)length + 1;
	else if (first == 0)
		first = 1;
	at = first > (lua_Integer)length + 1
		     ? NULL
		     : memmem(text + first - 1, length - (size_t)first + 1, sought, sought_length);
	if (!at) {
		lua_pushnil(state);
		return 1;
	}
	lua_pushinteger(state, at - text + 1);
	lua_pushinteger(state, at - text + (lua_Integer)sought_length);
	return 2;
}

static int character(lua_State *state)
{
	for (int i = 1; i <= lua_gettop(state); i++)
		luaL_argcheck(state, luaL_checkinteger(state, i) != 0, i, "strings hold no NUL");
	return call_counted(state, 1);
}

/* Without what shows addresses or makes a NUL; of values that are neither text nor number the type is written. */
static int format(lua_State *state)
{
	const char *text = luaL_checkstring(state, 1);

	while ((text = strchr(text, '%'))) {
		text += 1 + strspn(text + 1, "-+ #0123456789.");
		if (!*text || !strchr("diuoxXaAeEfFgGs%", *text))
			luaL_error(state, "format: there is no %%%c", *text ? *text : '%');
		text++;
	}
	for (int i = 2; i <= lua_gettop(state); i++) {
		int type = lua_type(state, i);

		if (type == LUA_TNUMBER || type == LUA_TSTRING)
			continue;
		push_text(state, i);
		lua_replace(state, i);
	}
	return counted_by_texts(state);
}

/* ---- the lists */

struct function {
	const char *name;
	lua_CFunction function; /* NULL: Lua's as it is; its upvalue is Lua's */
};

static const struct function basic[] = {{"assert", NULL}, {"error", NULL}, {"ipairs", NULL}, {"select", NULL},
	{"type", NULL}, {"pairs", pairs}, {"pcall", protected_call}, {"tonumber", counted_by_texts},
	{"tostring", to_string}, {"xpcall", protected_call_with_handler}, {NULL, NULL}};

static const struct function strings[] = {{"byte", counted_by_texts}, {"char", character}, {"find", find},
	{"format", format}, {"len", NULL}, {"lower", counted_by_texts}, {"rep", repeat}, {"reverse", counted_by_texts},
	{"sub", counted_by_texts}, {"upper", counted_by_texts}, {NULL, NULL}};

static const struct function tables[] = {{"concat", counted_by_table}, {"insert", insert}, {"pack", NULL},
	{"remove", counted_by_table}, {"sort", sort}, {"unpack", unpack}, {NULL, NULL}};

static const struct function numbers[] = {{"abs", NULL}, {"ceil", NULL}, {"exp", NULL}, {"floor", NULL}, {"fmod", NULL},
	{"huge", NULL}, {"log", NULL}, {"max", NULL}, {"maxinteger", NULL}, {"min", NULL}, {"mininteger", NULL},
	{"pi", NULL}, {"random", random_number}, {"sqrt", NULL}, {"tointeger", NULL}, {"type", NULL}, {NULL, NULL}};

/* Of Lua's functions, in the table on top, those listed go to the table below it. */
static void pick(lua_State *state, const struct function *listed)
{
	for (; listed->name; listed++) {
		lua_getfield(state, -1, listed->name);
		if (listed->function)
			lua_pushcclosure(state, listed->function, 1);
		lua_setfield(state, -3, listed->name);
	}
	lua_pop(state, 1);
}

/* A library of Lua's becomes a new global table at 1. */
static void furnish(lua_State *state, const char *name, lua_CFunction open, const struct function *listed)
{
	lua_newtable(state);
	lua_pushcfunction(state, open);
	lua_call(state, 0, 1);
	pick(state, listed);
	lua_setfield(state, 1, name);
}

void dlsi_script_furnish(lua_State *state)
{
	lua_settop(state, 0);
	lua_newtable(state);
	lua_pushcfunction(state, luaopen_base);
	lua_call(state, 0, 1);
	pick(state, basic);
	furnish(state, "string", luaopen_string, strings);
	furnish(state, "table", luaopen_table, tables);
	furnish(state, "math", luaopen_math, numbers);
	lua_pushliteral(state, ""); /* texts have our methods, and no arithmetic */
	lua_newtable(state);
	lua_getfield(state, 1, "string");
	lua_setfield(state, -2, "__index");
	lua_setmetatable(state, -2);
	lua_pop(state, 1);
	lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}
