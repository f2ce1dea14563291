#include "policy/lua.h"

#include "policy/ordered.h"
#include "policy/script.h"
#include <lauxlib.h>
#include <lua.h>
#include <string.h>

/* Of one view. More queues than that take turns to be in it. */
enum { QUEUES = 32, QUEUE_JOBS = 8, QUEUE_DEVICES = 16, CHOICES = 256 };

struct seen {
	const struct dlsi_policy_queue *queue;
	struct dlsi_policy_job *jobs[QUEUE_JOBS];
	struct dlsi_policy_device *devices[QUEUE_DEVICES];
	size_t job_count, device_count;
};

struct policy {
	struct dlsi_ordered ordered; /* first: the table has its functions */
	struct dlsi_script *script;
	struct seen seen[QUEUES];
	size_t seen_count;
	struct dlsi_policy_choice choices[CHOICES]; /* of the script, for this turn */
	size_t choice_count, next, given;
	uint64_t turn;
	struct dls_error failure; /* code 0: none */
};

/* ---- what the script sees */

/* The first jobs of a queue, which stay in it. */
static size_t list_jobs(struct dlsi_policy_queue *queue, struct dlsi_policy_job **jobs)
{
	size_t count = 0;
	struct dlsi_heap_node *first;

	while (count < QUEUE_JOBS && (first = dlsi_heap_first(&queue->jobs))) {
		jobs[count++] = dlsi_list_entry(first, struct dlsi_policy_job, place);
		dlsi_heap_remove(&queue->jobs, first);
	}
	for (size_t i = 0; i < count; i++)
		dlsi_heap_set(&queue->jobs, &jobs[i]->place, jobs[i]->place.due); /* cannot fail: it was there */
	return count;
}

static void look(struct policy *policy, const struct dlsi_policy_view *view)
{
	struct dlsi_list visited;

	policy->seen_count = 0;
	dlsi_list_init(&visited);
	dlsi_list_each (node, &policy->ordered.queues) {
		struct dlsi_policy_queue *queue = dlsi_list_entry(node, struct dlsi_policy_queue, node);
		struct seen *seen = &policy->seen[policy->seen_count];

		if (policy->seen_count == QUEUES)
			break;
		dlsi_list_remove(node);
		dlsi_list_append(&visited, node);
		seen->queue = queue;
		seen->device_count = view->candidates(view->view_arg, queue, seen->devices, QUEUE_DEVICES);
		if (!seen->device_count)
			continue;
		seen->job_count = list_jobs(queue, seen->jobs);
		policy->seen_count++;
	}
	dlsi_list_move(&visited, &policy->ordered.queues);
}

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
	lua_pushstring(state, text ? text : "");
	lua_setfield(state, -2, name);
}

static void push_job(lua_State *state, const struct dlsi_policy_view *view, const struct dlsi_policy_job *job)
{
	char id[DLSI_ID_TEXT_BYTES];

	lua_createtable(state, 0, 8);
	dlsi_hex(job->id.bytes, DLSI_ID_BYTES, id);
	set_text(state, "id", id);
	lua_pushinteger(state, job->priority);
	lua_setfield(state, -2, "priority");
	set_number(state, "age_ms", (double)(view->now_ns - job->since_ns) / 1e6);
	if (job->deadline_ns != INT64_MAX)
		set_number(state, "deadline_ms", (double)(job->deadline_ns - view->now_ns) / 1e6);
	set_whole(state, "ready", job->ready);
	set_whole(state, "running", job->running);
}

/* What the call's functions work on. */
struct batch {
	struct policy *policy;
	const struct dlsi_policy_view *view; /* NULL: of nothing */
};

static void set_jobs(lua_State *state, const struct batch *batch, size_t at)
{
	const struct seen *seen = &batch->policy->seen[at];

	lua_createtable(state, (int)seen->job_count, 0);
	for (size_t i = 0; i < seen->job_count; i++) {
		push_job(state, batch->view, seen->jobs[i]);
		set_whole(state, "number", at * QUEUE_JOBS + i + 1);
		lua_rawseti(state, -2, (lua_Integer)i + 1);
	}
	lua_setfield(state, -2, "jobs");
}

/* A device is one table, whichever queues it is listed in: the table at 2 has them by their numbers. */
static void push_device(lua_State *state, const struct dlsi_policy_device *device, uint64_t wait_ns)
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
	set_number(state, "wait_ms", (double)wait_ns / 1e6);
	lua_pushvalue(state, -1);
	lua_rawseti(state, 2, (lua_Integer)device->number);
}

static void set_devices(lua_State *state, const struct batch *batch, const struct seen *seen)
{
	const struct dlsi_policy_view *view = batch->view;

	lua_createtable(state, (int)seen->device_count, 0);
	lua_createtable(state, (int)seen->device_count, 0);
	for (size_t i = 0; i < seen->device_count; i++) {
		struct dlsi_policy_expectation expected = view->expect(view->view_arg, seen->queue, seen->devices[i]);

		push_device(state, seen->devices[i], expected.wait_ns);
		lua_rawseti(state, -3, (lua_Integer)i + 1);
		lua_pushnumber(state, (double)expected.item_ns / 1e6);
		lua_rawseti(state, -2, (lua_Integer)i + 1);
	}
	lua_setfield(state, -3, "item_ms");
	lua_setfield(state, -2, "devices");
}

static void push_queue(lua_State *state, const struct batch *batch, size_t at)
{
	const struct seen *seen = &batch->policy->seen[at];
	const struct dlsi_policy_tenant *tenant = seen->queue->tenant;

	lua_createtable(state, 0, 7);
	set_text(state, "tenant", tenant->name);
	set_text(state, "handler", seen->queue->handler);
	set_number(state, "weight", tenant->weight);
	set_number(state, "share", dlsi_resources_dominant(&tenant->used, batch->view->total));
	set_jobs(state, batch, at);
	set_devices(state, batch, seen);
}

static int build(lua_State *state, void *arg)
{
	const struct batch *batch = arg;

	lua_createtable(state, 0, 16); /* at 2, behind the function: devices by number */
	lua_createtable(state, 0, 2);
	set_number(state, "now_ms", batch->view ? (double)batch->view->now_ns / 1e6 : 0);
	lua_createtable(state, (int)batch->policy->seen_count, 0);
	for (size_t i = 0; i < batch->policy->seen_count; i++) {
		push_queue(state, batch, i);
		lua_rawseti(state, -2, (lua_Integer)i + 1);
	}
	lua_setfield(state, -2, "queues");
	lua_remove(state, 2);
	return 1;
}

/* ---- what it answers */

/* The number of a table of the view, from the place of the pair that is on top; 0: it is none. */
static uint64_t number_at(lua_State *state, lua_Integer place)
{
	uint64_t number = 0;

	if (lua_rawgeti(state, -1, place) == LUA_TTABLE) {
		lua_pushliteral(state, "number");
		lua_rawget(state, -2);
		number = lua_isinteger(state, -1) ? (uint64_t)lua_tointeger(state, -1) : 0;
		lua_pop(state, 1);
	}
	lua_pop(state, 1);
	return number;
}

static struct dlsi_policy_device *find_device(const struct seen *seen, uint64_t number)
{
	for (size_t i = 0; i < seen->device_count; i++)
		if (seen->devices[i]->number == number)
			return seen->devices[i];
	return NULL;
}

/* The pair on top. */
static struct dlsi_policy_choice read_choice(lua_State *state, const struct policy *policy, int place)
{
	uint64_t job = number_at(state, 1) - 1, device = number_at(state, 2), queue = job / QUEUE_JOBS;
	const struct seen *seen = &policy->seen[queue < QUEUES ? queue : 0];
	struct dlsi_policy_choice choice = {0};

	if (queue >= policy->seen_count || job % QUEUE_JOBS >= seen->job_count)
		luaL_error(state, "choice %d: its first is no job of the view", place);
	choice.job = seen->jobs[job % QUEUE_JOBS];
	choice.device = find_device(seen, device);
	if (!choice.device)
		luaL_error(state, "choice %d: its second is no device of the job's queue", place);
	return choice;
}

static void take(lua_State *state, void *arg)
{
	struct policy *policy = ((struct batch *)arg)->policy;
	int count;

	if (lua_type(state, 1) != LUA_TTABLE)
		luaL_error(state, "choose returns a %s and not a list", luaL_typename(state, 1));
	count = lua_rawlen(state, 1) < CHOICES ? (int)lua_rawlen(state, 1) : CHOICES;
	for (int i = 1; i <= count; i++) {
		if (lua_rawgeti(state, 1, i) != LUA_TTABLE)
			luaL_error(state, "choice %d is a %s and not {job, device}", i, luaL_typename(state, -1));
		policy->choices[i - 1] = read_choice(state, policy, i);
		lua_pop(state, 1);
	}
	policy->choice_count = (size_t)count;
}

static int ask(struct policy *policy, const struct dlsi_policy_view *view, struct dls_error *err)
{
	struct batch batch = {policy, view};
	struct dlsi_script_call call = {"choose", build, take, &batch};

	return dlsi_script_run(policy->script, &call, err);
}

/* ---- the table */

static void destroy(void *arg)
{
	struct policy *policy = arg;

	dlsi_script_destroy(policy->script);
	dlsi_free(policy->ordered.alloc, policy);
}

static int start(struct policy *policy, const char *text, uint64_t seed, struct dls_error *err)
{
	int rc = dlsi_script_create(policy->ordered.alloc, text, strlen(text), seed, &policy->script, err);

	return rc ? rc : ask(policy, NULL, err);
}

static int create(const struct dlsi_alloc *alloc, const cJSON *params, void **policy_out, struct dls_error *err)
{
	static const char *const known[] = {"script", "seed", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(params, "the policy's parameters", known, err);
	const char *text = dlsi_json_text(&reader, "script", "");
	int64_t seed = dlsi_json_integer(&reader, "seed", 1, 0, INT64_MAX);
	struct policy *policy;
	int rc;

	dlsi_json_require(&reader, "script");
	rc = reader.rc;
	if (rc)
		return rc;
	policy = dlsi_calloc(alloc, 1, sizeof *policy);
	if (!policy)
		return dlsi_fail_memory(err);
	policy->ordered.alloc = alloc;
	dlsi_list_init(&policy->ordered.queues);
	rc = start(policy, text, (uint64_t)seed, err);
	if (rc) {
		destroy(policy);
		return rc;
	}
	*policy_out = policy;
	return 0;
}

static void begin_turn(struct policy *policy, const struct dlsi_policy_view *view)
{
	policy->turn = view->turn;
	policy->choice_count = policy->next = policy->given = 0;
	look(policy, view);
	if (policy->seen_count && ask(policy, view, &policy->failure))
		policy->choice_count = 0;
}

static bool choose(void *arg, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	struct policy *policy = arg;

	if (policy->turn != view->turn)
		begin_turn(policy, view);
	while (policy->next < policy->choice_count) {
		const struct dlsi_policy_choice *choice = &policy->choices[policy->next++];

		if (!choice->job->place.place || !view->can_take(view->view_arg, choice->job->queue, choice->device))
			continue;
		policy->given++;
		*choice_out = *choice;
		return true;
	}
	return false;
}

static int excuse(void *arg, struct dls_error *err)
{
	const struct policy *policy = arg;

	if (policy->failure.code && err)
		*err = policy->failure;
	return policy->failure.code ? policy->failure.code : policy->given ? DLSI_POLICY_MORE : 0;
}

const struct dlsi_policy_ops dlsi_policy_lua = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "lua",
	.create = create,
	.destroy = destroy,
	.ready = dlsi_ordered_ready_by_priority,
	.idle = dlsi_ordered_idle,
	.choose = choose,
	.excuse = excuse,
};
