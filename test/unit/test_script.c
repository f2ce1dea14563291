/* The sandbox: what scripts can do, what they cannot reach, and that nothing goes on without end. */
#include "base/limits.h"
#include "policy/script.h"
#include "test/unit/unit.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>

static int load(const struct dlsi_alloc *alloc, const char *text, uint64_t seed, struct dlsi_script **script_out,
	struct dls_error *err)
{
	return dlsi_script_create(alloc, text, strlen(text), seed, script_out, err);
}

/* What the text comes to when it is run once: 0 if its assertions hold. */
static int outcome(const char *text, struct dls_error *err)
{
	struct dlsi_script *script = NULL;
	int rc = load(unit_alloc(), text, 1, &script, err);

	dlsi_script_destroy(script);
	return rc;
}

static void holds(const char *text)
{
	struct dls_error error = {0};

	if (outcome(text, &error))
		fail_msg("%s\n%s", text, error.text);
}

static void fails(const char *text, int code, const char *says)
{
	struct dls_error error = {0};
	int rc = outcome(text, &error);

	if (rc != code || !strstr(error.text, says))
		fail_msg("%s\n%d %s", text, rc, error.text);
}

static void test_what_scripts_are_for(void **state)
{
	(void)state;
	holds("local t = {3, 1, 2} table.sort(t) assert(table.concat(t, ',') == '1,2,3')");
	holds("assert(('abc'):upper() == 'ABC' and ('x'):rep(3, '-') == 'x-x-x' and #('x'):rep(1024) == 1024)");
	holds("assert(string.format('%s %5.2f %d %s', 'a', 1.5, 7, {}) == 'a  1.50 7 table')");
	holds("assert(('a.b.c'):find('.', 3, true) == 4 and not ('abc'):find('z'))");
	holds("local a, b = ('hello'):find('ll') assert(a == 3 and b == 4)");
	holds("assert(select('#', table.unpack({1, 2, 3})) == 3 and table.pack(1, 2).n == 2)");
	holds("assert(tonumber('12') == 12 and tonumber('ff', 16) == 255 and tostring(nil) == 'nil')");
	holds("assert(math.max(1, 2) == 2 and math.type(1) == 'integer' and math.tointeger(2.0) == 2)");
	holds("local ok, why = pcall(error, 'no') assert(not ok and why == 'no')");
	holds("local ok, a, b = pcall(function(...) return ... end, 1, 2) assert(ok and a == 1 and b == 2)");
	holds("assert(select(2, xpcall(error, function(e) return e .. '!' end, 'no')) == 'no!')");
	holds("local ok, a, b = xpcall(function(...) return ... end, error, 1, 2) assert(ok and a == 1 and b == 2)");
	holds("local t = {1, 2} table.insert(t, 1, 0) table.insert(t, 3) assert(table.remove(t) == 3 and t[1] == 0)");
	fails("x = = 1", DLS_EINVAL, "script:1:");
	fails("\n\nlocal x = nil + 1", DLS_EINVAL, "script:3:");
	fails("error({})", DLS_EINVAL, "no text");
}

/* Everything that a script could reach out with, catch a limit with or run on in. */
static void test_what_is_not_there(void **state)
{
	static const char *const names[] = {"load", "loadstring", "loadfile", "dofile", "require", "package", "io",
		"os", "debug", "collectgarbage", "coroutine", "setmetatable", "getmetatable", "rawset", "rawget",
		"rawequal", "rawlen", "next", "print", "warn", "_G", "utf8", "string.dump", "string.gsub",
		"string.gmatch", "string.match", "string.pack", "string.unpack", "string.packsize", "table.move",
		"math.randomseed"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char text[64];

		snprintf(text, sizeof text, "assert(%s == nil)", names[i]);
		holds(text);
	}
	fails("local _ENV <const> = {}", DLS_EINVAL, "_ENV");
	fails("return ('').__index.nothing.x", DLS_EINVAL, "index a nil value");
	fails("return '10' + 1", DLS_EINVAL, "arithmetic on a string");
	fails("local x <close> = {}", DLS_EINVAL, "non-closable");
	fails("return ('a-b'):find('-')", DLS_EINVAL, "no patterns");
	fails("return ('%p'):format('x')", DLS_EINVAL, "%p");
	fails("return ('%c'):format(0)", DLS_EINVAL, "%c");
	fails("\033Lua", DLS_EINVAL, "binary");
	fails("pairs({[{}] = 1})", DLS_EINVAL, "order");
	holds("for _, v in ipairs({{}, print, function() end}) do assert(not tostring(v):find('0x')) end");
	holds("assert(not ('%s'):format({}):find('0x'))");
}

/* Strings with NULs take long to compare. */
static void test_no_nul_gets_in(void **state)
{
	static const char *const cannot[] = {"x = '\\0'", "x = '\\00'", "x = '\\000'", "x = '\\x00'", "x = '\\u{0}'",
		"x = '\\u{000}'", "x = '\\0a'", "x = '\\\\\\0'"};
	static const char *const can[] = {"x = '\\\\0'", "x = '\\001'", "x = '\\01'", "x = '\\065'", "x = '\\x01'",
		"x = '\\u{01}'", "x = '\\n0'"};
	struct dlsi_script *script;
	struct dls_error error;

	(void)state;
	for (size_t i = 0; i < sizeof cannot / sizeof *cannot; i++)
		fails(cannot[i], DLS_EINVAL, "NUL");
	for (size_t i = 0; i < sizeof can / sizeof *can; i++)
		holds(can[i]);
	fails("return string.char(65, 0)", DLS_EINVAL, "NUL");
	assert_int_equal(dlsi_script_create(unit_alloc(), "x = '\0'", 7, 1, &script, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "NUL"));
}

/* Each would run for ever, or for minutes, were it not for what it meets here. */
static void test_no_loop_goes_on(void **state)
{
	static const char *const loops[] = {
		"while true do end",
		"::a:: goto a",
		"while true do pcall(function() while true do end end) end",
		"while true do pcall(error) end",
		"while true do xpcall(error, error) end",
		"local function f() pcall(f) f() end while true do pcall(f) end",
		"local function f(e) while true do end end while true do xpcall(error, f) end",
		"local t = {} for i = 1, 200 do t[i] = i end while true do table.sort(t, function(a, b) return a > b "
		"end) end",
		"local t = {} for i = 1, 5000 do t[i] = i end while true do table.sort(t) end",
		"local t = {} for i = 1, 5000 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) "
		"end",
		"local t = {} for i = 1, 5000 do t[i] = '' end while true do local s = table.concat(t) end",
		"local t = {} for i = 1, 2000 do t['k' .. i] = i end while true do for k in pairs(t) do end end",
		"local t = {} for i = 1, 2000 do t['k' .. i] = i end for i = 1, 2000 do t['k' .. i] = nil end "
		"while true do pairs(t) end",
		"local s = ('a'):rep(1000) while true do s:find(s .. 'b') end",
		"local s = ('a'):rep(1000) while true do s:upper() end",
		"local s = ('0'):rep(1000) while true do tonumber(s) end",
		"local s = ('a'):rep(1000) while true do local x = s .. 'b' end",
		"while true do local x = {} end",
	};

	(void)state;
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
		fails(loops[i], DLS_ELIMIT, "the script ");
	fails("('').rep('', 1e15 // 1 | 0)", DLS_EINVAL, "1024 bytes");
	fails("table.unpack({}, 1, 1e9 // 1 | 0)", DLS_EINVAL, "250");
	fails("table.unpack({}, math.mininteger, math.maxinteger)", DLS_EINVAL, "250");
}

static void test_no_memory_beyond_the_limit(void **state)
{
	static const char *const hogs[] = {
		"local u, t = {}, {} for i = 1, 250 do u[i] = i end for i = 1, 4000 do t[i] = {table.unpack(u)} end",
		"local u, t = {}, {} for i = 1, 250 do u[i] = i end for i = 1, 4000 do "
		"pcall(function() t[i] = {table.unpack(u)} end) end",
	};

	(void)state;
	for (size_t i = 0; i < sizeof hogs / sizeof *hogs; i++)
		fails(hogs[i], DLS_ELIMIT, "bytes of memory");
	fails("local t = {} for i = 1, 1e6 do t[i] = i end", DLS_ELIMIT, "131072 bytes");
	fails("local function f() return 1 + f() end f()", DLS_ELIMIT, "131072 bytes");
	fails("local function f() return 1 + f() end while true do pcall(f) end", DLS_ELIMIT, "131072 bytes");
	fails("local s = 'x' while true do s = s .. s end", DLS_ELIMIT, "1024 bytes");
	fails("local s = ('x'):rep(1000) while true do pcall(function() return s .. s end) end", DLS_ELIMIT,
		"1024 bytes");
	fails("local s = ('x'):rep(1000) return table.concat({s, s})", DLS_ELIMIT, "1024 bytes");
	fails("local s = ('x'):rep(1000) return ('%s%s'):format(s, s)", DLS_ELIMIT, "1024 bytes");
	holds("local s for i = 1, 5000 do s = ('x' .. i):rep(20) end"); /* garbage is collected */
}

static void test_the_text_has_a_limit(void **state)
{
	static char text[DLSI_SCRIPT_BYTES + 1];
	struct dlsi_script *script;
	struct dls_error error;

	(void)state;
	memset(text, ' ', sizeof text);
	assert_int_equal(dlsi_script_create(unit_alloc(), text, sizeof text, 1, &script, &error), DLS_ELIMIT);
	assert_int_equal(dlsi_script_create(unit_alloc(), text, sizeof text - 1, 1, &script, &error), 0);
	dlsi_script_destroy(script);
	memset(text, '(', sizeof text);
	assert_int_equal(dlsi_script_create(unit_alloc(), text, sizeof text - 1, 1, &script, &error), DLS_EINVAL);
}

static void test_pairs_go_by_sorted_keys(void **state)
{
	(void)state;
	holds("local t, s = {}, '' for _, k in ipairs({'b', 2, 'a', true, 1.5, 1, 'ab', -1, false}) do t[k] = 1 end "
	      "for k in pairs(t) do s = s .. ' ' .. tostring(k) end assert(s == ' false true -1 1 1.5 2 a ab b', s)");
	holds("local t, n = {a = 1, b = 2, c = 3}, 0 for k in pairs(t) do t.b = nil n = n + 1 end assert(n == 2)");
	holds("for k in pairs({}) do error() end");
}

/* ---- calls */

struct sum {
	lua_Integer a, b, result;
};

static int push_numbers(lua_State *lua, void *arg)
{
	const struct sum *sum = arg;

	lua_pushinteger(lua, sum->a);
	lua_pushinteger(lua, sum->b);
	return 2;
}

static void take_number(lua_State *lua, void *arg)
{
	struct sum *sum = arg;

	sum->result = luaL_checkinteger(lua, 1);
}

static int run_with(struct dlsi_script *script, struct sum *sum, struct dls_error *err)
{
	struct dlsi_script_call call = {"f", push_numbers, take_number, sum};

	return dlsi_script_run(script, &call, err);
}

static void test_a_call_has_a_budget_of_its_own(void **state)
{
	struct sum sum = {.a = 2, .b = 3};
	struct dlsi_script *script;
	struct dls_error error;

	(void)state;
	assert_int_equal(load(unit_alloc(),
				 "n = 0 function f(a, b) n = n + 1 for i = 1, 30000 do end "
				 "if a == 0 then while true do end end return a + b + n end",
				 1, &script, &error),
		0);
	for (int i = 1; i <= 30; i++) {
		assert_int_equal(run_with(script, &sum, &error), 0);
		assert_int_equal(sum.result, 5 + i);
	}
	sum.a = 0;
	assert_int_equal(run_with(script, &sum, &error), DLS_ELIMIT);
	sum.a = 1;
	assert_int_equal(run_with(script, &sum, &error), 0);
	assert_int_equal(sum.result, 36);
	dlsi_script_destroy(script);
}

static void test_a_call_without_a_function(void **state)
{
	struct sum sum = {0};
	struct dlsi_script *script;
	struct dls_error error;

	(void)state;
	assert_int_equal(load(unit_alloc(), "f = 1", 1, &script, &error), 0);
	assert_int_equal(run_with(script, &sum, &error), DLS_EINVAL);
	assert_non_null(strstr(error.text, "no function f"));
	dlsi_script_destroy(script);
	assert_int_equal(load(unit_alloc(), "function f() return 'x' end", 1, &script, &error), 0);
	assert_int_equal(run_with(script, &sum, &error), DLS_EINVAL);
	dlsi_script_destroy(script);
}

static lua_Integer draw(uint64_t seed)
{
	struct sum sum = {.a = 1, .b = 1000000000};
	struct dlsi_script *script;

	assert_int_equal(load(unit_alloc(),
				 "function f(a, b) local r = 0 for i = 1, 10 do local x = math.random() "
				 "assert(0 <= x and x < 1) r = r ~ math.random(a, b) ~ math.random(7) end "
				 "return r end",
				 seed, &script, NULL),
		0);
	assert_int_equal(run_with(script, &sum, NULL), 0);
	dlsi_script_destroy(script);
	return sum.result;
}

static void test_chance_replays_from_its_seed(void **state)
{
	(void)state;
	assert_int_equal(draw(5), draw(5));
	assert_int_not_equal(draw(5), draw(6));
	fails("math.random(2, 1)", DLS_EINVAL, "empty");
	holds("assert(math.type(math.random(math.mininteger, math.maxinteger)) == 'integer')");
}

/* Memory of the process that runs out at every request: an error each time, and nothing is left behind. */
static void test_memory_runs_out(void **state)
{
	static const char text[] = "t = {} for i = 1, 50 do t[i] = {name = 'n' .. i} end pcall(function() for k in "
				   "pairs(t) do t[k].x = ('y'):rep(100) end end) function f(a, b) return a + b end";
	unsigned at = 0;
	int rc;

	(void)state;
	do {
		struct sum sum = {.a = 1, .b = 2};
		struct dlsi_script *script = NULL;

		rc = load(unit_alloc_failing_at(++at), text, 1, &script, NULL);
		if (rc == 0)
			rc = run_with(script, &sum, NULL);
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		dlsi_script_destroy(script);
	} while (rc);
	assert_true(at > 100);
}

UNIT_MAIN(test_what_scripts_are_for, test_what_is_not_there, test_no_nul_gets_in, test_no_loop_goes_on,
	test_no_memory_beyond_the_limit, test_the_text_has_a_limit, test_pairs_go_by_sorted_keys,
	test_a_call_has_a_budget_of_its_own, test_a_call_without_a_function, test_chance_replays_from_its_seed,
	test_memory_runs_out)
