#include "policy/lua.h"

#include "policy/batch.h"
#include "policy/script.h"
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

struct policy {
	struct dlsi_batch batch; /* first: the table has its functions */
	struct dlsi_script *script;
};

/* A call of the script: the view it gets and the choices it makes. */
struct call {
	const struct dls_policy_view *view;
	struct dls_policy_choice *choices;
	size_t limit;
	int count;
};

/* ---- what the script sees */

static void set_number(lua_State *state, const char *name, double number)
{
	lua_pushnumber(state, number);
	lua_setfield(state, -2, name);
}

static void set_whole(lua_State *state, const char *name, uint64_t number)
{
	lua_pushinteger(state, (lua_Integer)number);
	lua_setfield(state, -2, name);
}

static void set_text(lua_State *state, const char *name, const char *text)
{
	lua_pushstring(state, text);
	lua_setfield(state, -2, name);
}

static void push_job(lua_State *state, const struct dls_policy_view *view, const struct dls_policy_job *job)
{
	lua_createtable(state, 0, 8);
	set_whole(state, "number", job->number);
	set_text(state, "id", job->id);
	lua_pushinteger(state, job->priority);
	lua_setfield(state, -2, "priority");
	set_number(state, "age_ms", (double)(view->now_ns - job->since_ns) / 1e6);
	if (job->deadline_ns != INT64_MAX)
		set_number(state, "deadline_ms", (double)(job->deadline_ns - view->now_ns) / 1e6);
	set_whole(state, "ready", job->ready);
	set_whole(state, "running", job->running);
}

static void set_jobs(lua_State *state, const struct dls_policy_view *view, const struct dls_policy_queue *queue)
{
	lua_createtable(state, (int)queue->job_count, 0);
	for (size_t i = 0; i < queue->job_count; i++) {
		push_job(state, view, queue->jobs[i]);
		lua_rawseti(state, -2, (lua_Integer)i + 1);
	}
	lua_setfield(state, -2, "jobs");
}

/* A device is one table, whichever queues it is listed in: the table at 2 has them by their numbers. */
static void push_device(lua_State *state, const struct dls_policy_device *device)
{
	if (lua_rawgeti(state, 2, (lua_Integer)device->number) == LUA_TTABLE)
		return;
	lua_pop(state, 1);
	lua_createtable(state, 0, 6);
	set_whole(state, "number", device->number);
	set_text(state, "name", device->name);
	set_text(state, "worker", device->worker);
	set_whole(state, "held", device->held);
	set_whole(state, "free", device->credits - device->held);
	set_number(state, "wait_ms", (double)device->wait_ns / 1e6);
	lua_pushvalue(state, -1);
	lua_rawseti(state, 2, (lua_Integer)device->number);
}

static void set_devices(lua_State *state, const struct dls_policy_queue *queue)
{
	lua_createtable(state, (int)queue->device_count, 0);
	lua_createtable(state, (int)queue->device_count, 0);
	for (size_t i = 0; i < queue->device_count; i++) {
		push_device(state, queue->devices[i]);
		lua_rawseti(state, -3, (lua_Integer)i + 1);
		lua_pushnumber(state, (double)queue->devices[i]->item_ns / 1e6);
		lua_rawseti(state, -2, (lua_Integer)i + 1);
	}
	lua_setfield(state, -3, "item_ms");
	lua_setfield(state, -2, "devices");
}

static void push_queue(lua_State *state, const struct dls_policy_view *view, const struct dls_policy_queue *queue)
{
	lua_createtable(state, 0, 7);
	set_text(state, "tenant", queue->tenant);
	set_text(state, "handler", queue->handler);
	set_number(state, "weight", queue->weight);
	set_number(state, "share", queue->share);
	set_jobs(state, view, queue);
	set_devices(state, queue);
}

static int build(lua_State *state, void *arg)
{
	const struct dls_policy_view *view = ((const struct call *)arg)->view;

	lua_createtable(state, 0, 16); /* at 2, behind the function: devices by number */
	lua_createtable(state, 0, 2);
	set_number(state, "now_ms", (double)view->now_ns / 1e6);
	lua_createtable(state, (int)view->queue_count, 0);
	for (size_t i = 0; i < view->queue_count; i++) {
		push_queue(state, view, view->queues[i]);
		lua_rawseti(state, -2, (lua_Integer)i + 1);
	}
	lua_setfield(state, -2, "queues");
	lua_remove(state, 2);
	return 1;
}

/* ---- what it answers */

/* The number of a table of the view, from the place of the pair that is on top; that of none if it is none. */
static uint64_t number_at(lua_State *state, lua_Integer place)
{
	uint64_t number = UINT64_MAX;

	if (lua_rawgeti(state, -1, place) == LUA_TTABLE) {
		lua_pushliteral(state, "number");
		lua_rawget(state, -2);
		number = lua_isinteger(state, -1) ? (uint64_t)lua_tointeger(state, -1) : UINT64_MAX;
		lua_pop(state, 1);
	}
	lua_pop(state, 1);
	return number;
}

static void take(lua_State *state, void *arg)
{
	struct call *call = arg;

	if (lua_type(state, 1) != LUA_TTABLE)
		luaL_error(state, "choose returns a %s and not a list", luaL_typename(state, 1));
	call->count = (int)(lua_rawlen(state, 1) < call->limit ? lua_rawlen(state, 1) : call->limit);
	for (int i = 1; i <= call->count; i++) {
		if (lua_rawgeti(state, 1, i) != LUA_TTABLE)
			luaL_error(state, "choice %d is a %s and not {job, device}", i, luaL_typename(state, -1));
		call->choices[i - 1] =
			(struct dls_policy_choice){.job = number_at(state, 1), .device = number_at(state, 2)};
		lua_pop(state, 1);
	}
}

static int ask(void *arg, const struct dls_policy_view *view, struct dls_policy_choice *choices, size_t limit,
	struct dls_error *err)
{
	struct policy *policy = arg;
	struct call to = {.view = view, .choices = choices, .limit = limit};
	struct dlsi_script_call call = {"choose", build, take, &to};
	int rc = dlsi_script_run(policy->script, &call, err);

	return rc ? rc : to.count;
}

/* ---- the table */

static void destroy(void *arg)
{
	struct policy *policy = arg;

	dlsi_script_destroy(policy->script);
	dlsi_free(policy->batch.ordered.alloc, policy);
}

static int start(struct policy *policy, const char *text, uint64_t seed, struct dls_error *err)
{
	int rc = dlsi_script_create(policy->batch.ordered.alloc, text, strlen(text), seed, &policy->script, err);

	return rc ? rc : dlsi_batch_try(&policy->batch, err);
}

static int create(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **policy_out, struct dls_error *err)
{
	static const char *const known[] = {"script", "seed", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(params, "the policy's parameters", known, err);
	const char *text = dlsi_json_text(&reader, "script", "");
	int64_t seed = dlsi_json_integer(&reader, "seed", 1, 0, INT64_MAX);
	struct policy *policy;
	int rc;

	(void)ops;
	dlsi_json_require(&reader, "script");
	rc = reader.rc;
	if (rc)
		return rc;
	policy = dlsi_calloc(alloc, 1, sizeof *policy);
	if (!policy)
		return dlsi_fail_memory(err);
	dlsi_batch_init(&policy->batch, alloc, ask);
	rc = start(policy, text, (uint64_t)seed, err);
	if (rc) {
		destroy(policy);
		return rc;
	}
	*policy_out = policy;
	return 0;
}

const struct dlsi_policy_ops dlsi_policy_lua = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "lua",
	.create = create,
	.destroy = destroy,
	.ready = dlsi_ordered_ready_by_priority,
	.idle = dlsi_ordered_idle,
	.choose = dlsi_batch_choose,
	.excuse = dlsi_batch_excuse,
};
