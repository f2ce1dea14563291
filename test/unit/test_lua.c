/* Policies in Lua, and any policy that fails, in a master that has workers and jobs. */
#include "policy/lua.h"
#include "policy/roundrobin.h"
#include "test/unit/commands.h"
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { FIRST, SECOND, ALICE = 20, BOB, CAROL, TASKS = 40, SCRIPT_BYTES = 4096 };

#define ONE_OF_EACH                                                                                                    \
	"local c = {} for _, q in ipairs(view.queues) do for _, d in ipairs(q.devices) do "                            \
	"c[#c + 1] = {q.jobs[1], d} end end return c"

static void register_tenant(struct unit_machine *master, uint32_t slot, const char *name)
{
	struct dlsi_record record = {.kind = DLSI_REGISTER};

	record.reg = (struct dlsi_register){.role = DLSI_ROLE_CLIENT,
		.version_low = 1,
		.version_high = 1,
		.incarnation = slot,
		.name = dlsi_text_of(name),
		.host = dlsi_text_of("host"),
		.data_endpoint = dlsi_text_of("tcp://client:1")};
	unit_machine_tell(master, slot, &record, 1);
	unit_machine_say(master, slot, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
}

static void begin(struct unit_machine *master, uint16_t credits)
{
	unit_master_init(master, unit_alloc(), false);
	unit_register_asker(master);
	unit_machine_say(master, UNIT_ASKER, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, FIRST, 1, "one", credits, "work");
}

/* The command that sets it. */
static char *command_of(const char *script)
{
	cJSON *json = cJSON_CreateObject(), *params;
	char *text;

	cJSON_AddStringToObject(json, "command", "policy");
	cJSON_AddStringToObject(json, "name", "lua");
	params = cJSON_AddObjectToObject(json, "params");
	cJSON_AddStringToObject(params, "script", script);
	text = dlsi_json_print(unit_alloc(), json);
	cJSON_Delete(json);
	return text;
}

static void use(struct unit_machine *master, const char *script)
{
	char *command = command_of(script);

	cJSON_Delete(unit_ask(master, "%s", command));
	dlsi_free(unit_alloc(), command);
}

static void use_example(struct unit_machine *master, const char *path)
{
	char script[SCRIPT_BYTES];
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(script, 1, sizeof script - 1, file);
	fclose(file);
	script[length] = '\0';
	use(master, script);
}

/* What a worker is given from now on, one step after another. */
struct given {
	struct dlsi_assign tasks[4 * TASKS];
	unsigned count;
};

static void collect(const struct unit_machine *master, struct given *given)
{
	for (unsigned slot = FIRST; slot <= SECOND; slot++)
		for (unsigned i = 0; i < unit_machine_count(master, slot, DLSI_ASSIGN); i++)
			given->tasks[given->count++] = unit_assigned(master, slot, i);
}

/* Turns follow until the master asks for no other. */
static void settle(struct unit_machine *master, struct given *given)
{
	collect(master, given);
	for (unsigned i = 0; i < TASKS; i++) {
		unit_machine_step(master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
		collect(master, given);
	}
}

static void submit(struct unit_machine *master, uint32_t slot, uint8_t job, uint64_t items, struct given *given)
{
	unit_machine_say(master, slot, unit_submit(job, 0, items));
	settle(master, given);
}

static void answer(struct unit_machine *master, uint32_t slot, struct dlsi_assign task, struct given *given)
{
	unit_machine_say(master, slot, unit_result(&task, 100, false));
	settle(master, given);
}

static void test_tenants_in_the_order_of_their_names(void **state)
{
	struct given given = {.count = 0};
	struct unit_machine master;

	(void)state;
	begin(&master, 1);
	use_example(&master, "examples/policies/tenants.lua");
	register_tenant(&master, CAROL, "carol");
	register_tenant(&master, BOB, "bob");
	register_tenant(&master, ALICE, "alice");
	submit(&master, CAROL, 3, 3, &given);
	submit(&master, BOB, 2, 2, &given);
	submit(&master, ALICE, 1, 2, &given);
	for (unsigned i = 0; i < 7; i++)
		answer(&master, FIRST, given.tasks[i], &given);
	assert_int_equal(given.count, 7);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(given.tasks[i].job.bytes[0], "\3\1\1\2\2\3\3"[i]);
	unit_machine_fini(&master);
}

static void test_the_device_that_knows_the_work(void **state)
{
	struct given given = {.count = 0};
	struct unit_machine master;

	(void)state;
	begin(&master, 8);
	use_example(&master, "examples/policies/affinity.lua");
	submit(&master, UNIT_ASKER, 1, 1, &given);
	answer(&master, FIRST, given.tasks[0], &given);
	unit_register_worker(&master, SECOND, 2, "two", 8, "work");
	given.count = 0;
	unit_machine_say(&master, UNIT_ASKER, unit_submit(2, 0, 4));
	for (unsigned i = 0, first = 0, second = 0; i < 8; i++) {
		first += unit_machine_count(&master, FIRST, DLSI_ASSIGN);
		second += unit_machine_count(&master, SECOND, DLSI_ASSIGN);
		assert_true(first >= 2 || second == 0);
		assert_true(i < 7 || (first == 3 && second == 1));
		unit_machine_step(&master, (struct dlsi_event){.kind = DLSI_EVENT_TIMER});
	}
	unit_machine_fini(&master);
}

static void shows(struct unit_machine *master, const char *policy, const char *failure)
{
	cJSON *status = unit_ask(master, "{\"command\":\"status\"}");
	const char *said = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(status, "policy_failure"));

	assert_string_equal(unit_text(status, "policy"), policy);
	if (!failure != !said || (failure && !strstr(said, failure)))
		fail_msg("%s instead of %s", said, failure);
	cJSON_Delete(status);
}

static unsigned count_failures(const struct unit_machine *master)
{
	const struct dlsi_effect *effect;
	unsigned count = 0;

	for (unsigned i = 0; (effect = unit_machine_does(master, DLSI_EFFECT_LOG, i)); i++)
		count += effect->log.level == DLS_LOG_ERROR;
	return count;
}

/* All items of the job come out of the worker once, whatever decides. */
static void run_job(struct unit_machine *master, uint8_t job, const char *failure)
{
	struct given given = {.count = 0};
	bool seen[TASKS] = {false};
	unsigned failures;

	unit_machine_say(master, UNIT_ASKER, unit_submit(job, 0, TASKS));
	failures = count_failures(master);
	if (failures != (failure != NULL))
		fail_msg("%u failures in the log: %s", failures, failure);
	settle(master, &given);
	for (unsigned i = 0; i < given.count; i++) {
		assert_false(seen[given.tasks[i].first]);
		seen[given.tasks[i].first] = true;
		answer(master, FIRST, given.tasks[i], &given);
		assert_int_equal(count_failures(master), 0);
	}
	assert_int_equal(given.count, TASKS);
}

static void test_whatever_a_script_does_nothing_is_lost(void **state)
{
	static const struct {
		const char *choose, *failure;
	} cases[] = {
		{ONE_OF_EACH, NULL},
		{"return {}", "roundrobin"},
		{"while true do end", "200000 steps"},
		{"while true do pcall(function() while true do end end) end", "200000 steps"},
		{"error('no')", "no"},
		{"error()", "no text"},
		{"return nil", "returns a nil"},
		{"return 'x'", "returns a string"},
		{"return {1}", "choice 1 is a number"},
		{"return {{}}", "choice 1: its first is no job"},
		{"return {{{number = 0}, {}}}", "no job"},
		{"return {{{number = 2}, {}}}", "no job"},
		{"return {{{number = -1}, {}}}", "no job"},
		{"return {{{number = 1000000}, {}}}", "no job"},
		{"return {{{number = '1'}, {}}}", "no job"},
		{"return {{view.queues[1].jobs[1], view.queues[1].jobs[1], {}}}", "no device"},
		{"return {{view.queues[1].jobs[1]}}", "no device"},
		{"return {{view.queues[1].jobs[1], {number = 77}}}", "no device"},
		{"return {view.queues[1].jobs[1].x.y}", "index a nil value"},
		{"local t = {} for i = 1, 1e6 do t[i] = i end", "131072 bytes"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct unit_machine master;
		char script[512];
		bool idles = strcmp(cases[i].choose, "return {}") == 0;

		snprintf(script, sizeof script, "function choose(view) if #view.queues == 0 then return {} end %s end",
			cases[i].choose);
		begin(&master, 4);
		use(&master, script);
		if (idles) { /* no failure, but nothing happens until another policy decides */
			unit_machine_say(&master, UNIT_ASKER, unit_submit(1, 0, TASKS));
			assert_int_equal(unit_machine_count(&master, FIRST, DLSI_ASSIGN), 0);
			shows(&master, "lua", NULL);
		} else {
			run_job(&master, 1, cases[i].failure);
			shows(&master, cases[i].failure ? "roundrobin" : "lua", cases[i].failure);
		}
		unit_machine_fini(&master);
	}
}

static void test_the_policy_before_takes_over(void **state)
{
	static const char fails_later[] =
		"local n = 0 function choose(view) n = n + 1 if n > 5 then error('late') end " ONE_OF_EACH " end";
	struct unit_machine master;

	(void)state;
	begin(&master, 4);
	cJSON_Delete(unit_ask(&master, "{\"command\":\"policy\",\"name\":\"priority\"}"));
	use(&master, "function choose(view) " ONE_OF_EACH " end");
	use(&master, "function choose(view) if #view.queues > 0 then error('at once') end return {} end");
	run_job(&master, 1, "at once");
	shows(&master, "lua", "lua has failed, lua decides");
	use(&master, fails_later);
	shows(&master, "lua", NULL);
	unit_machine_say(&master, UNIT_ASKER, unit_submit(2, 0, 1));
	cJSON_Delete(unit_ask(&master, "{\"command\":\"policy\",\"name\":\"priority\"}"));
	shows(&master, "priority", NULL);
	unit_machine_fini(&master);
}

static void test_scripts_that_are_refused(void **state)
{
	static const char *const scripts[] = {"", "function choose(", "choose = 1", "function choose() return 1 end",
		"function choose() end", "while true do end", "function choose() while true do end end", "error('x')",
		"function choose(view) return view.queues[1].jobs end"};
	struct unit_machine master;

	(void)state;
	begin(&master, 4);
	for (unsigned i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		char *command = command_of(scripts[i]);

		unit_ask_in_vain(&master, command, strstr(scripts[i], "while") ? DLS_ELIMIT : DLS_EINVAL, "the script");
		dlsi_free(unit_alloc(), command);
	}
	unit_ask_in_vain(&master, "{\"command\":\"policy\",\"name\":\"lua\"}", DLS_EINVAL, "script");
	shows(&master, "roundrobin", NULL);
	unit_machine_fini(&master);
}

/* ---- a policy of this program that chooses what cannot be */

enum nonsense { AN_IDLE_JOB, A_FULL_DEVICE, AN_EXCUSE };

static enum nonsense nonsense;
static struct dlsi_policy_job *last_job;

static int create(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **policy_out, struct dls_error *err)
{
	(void)ops;
	(void)alloc;
	(void)params;
	(void)err;
	last_job = NULL;
	*policy_out = &nonsense;
	return 0;
}

static void destroy(void *policy)
{
	(void)policy;
}

static void ready(void *policy, struct dlsi_policy_job *job)
{
	(void)policy;
	last_job = job;
}

static void idle(void *policy, struct dlsi_policy_job *job)
{
	(void)policy;
	(void)job;
}

static bool choose(void *policy, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	static struct dlsi_policy_device *device;
	struct dlsi_policy_device *free_device;

	(void)policy;
	free_device = last_job ? view->least_loaded(view->view_arg, last_job->queue) : NULL;
	if (free_device)
		device = free_device;
	*choice_out = (struct dlsi_policy_choice){.job = last_job, .device = device};
	return last_job && nonsense != AN_EXCUSE;
}

static int excuse(void *policy, struct dls_error *err)
{
	(void)policy;
	return nonsense == AN_EXCUSE && last_job ? dlsi_fail(err, DLS_EIO, "it has no idea") : 0;
}

static const struct dlsi_policy_ops nonsensical = {DLSI_POLICY_ABI, sizeof nonsensical, "nonsense", create, destroy,
	NULL, ready, idle, choose, excuse, NULL, NULL};

/* The master is one that begins with this policy. */
static void begin_with_nonsense(struct unit_machine *master)
{
	struct dlsi_master_config config = {.term = 1,
		.heartbeat_ns = 100 * UNIT_MS,
		.worker_timeout_ns = 500 * UNIT_MS,
		.policy = &nonsensical,
		.last_policy = &dlsi_policy_roundrobin};
	struct dlsi_master *core;

	unit_master_init(master, unit_alloc(), false);
	master->destroy(master->core, &master->effects);
	config.cluster = master->cluster;
	assert_int_equal(dlsi_master_create(unit_alloc(), &config, &core, NULL), 0);
	master->core = core;
	unit_register_asker(master);
	unit_machine_say(master, UNIT_ASKER, unit_spec(0, "{\"handler\":\"work\",\"task_items\":1}"));
	unit_register_worker(master, FIRST, 1, "one", 4, "work");
}

static void test_choices_that_cannot_be(void **state)
{
	static const char *const says[] = {
		"chose a job that has nothing to give out", "chose a device that cannot take", "has no idea"};

	(void)state;
	for (nonsense = AN_IDLE_JOB; nonsense <= AN_EXCUSE; nonsense++) {
		struct given given = {.count = 0};
		struct unit_machine master;

		begin_with_nonsense(&master);
		shows(&master, "nonsense", NULL);
		submit(&master, UNIT_ASKER, 1, nonsense == AN_IDLE_JOB ? 1 : TASKS, &given);
		shows(&master, "roundrobin", says[nonsense]);
		assert_true(given.count > 0);
		unit_machine_fini(&master);
	}
}

/* A script sees two free devices and chooses both: its tenant's quota allows one, and the script has not failed. */
static void test_a_quota_bounds_a_script(void **state)
{
	struct given given = {.count = 0};
	struct unit_machine master;
	cJSON *answer;

	(void)state;
	begin(&master, 1);
	unit_register_worker(&master, SECOND, 2, "two", 1, "work");
	use(&master, "function choose(view) " ONE_OF_EACH " end");
	cJSON_Delete(unit_ask(&master, "%s", "{\"command\":\"tenant\",\"name\":\"alice\",\"quota\":{\"devices\":1}}"));
	register_tenant(&master, ALICE, "alice");
	submit(&master, ALICE, 1, 5, &given);
	assert_int_equal(given.count, 1);
	answer = unit_ask(&master, "{\"command\":\"policy\"}%s", "");
	assert_string_equal(unit_text(answer, "policy"), "lua");
	cJSON_Delete(answer);
	unit_machine_fini(&master);
}

UNIT_MAIN(test_a_quota_bounds_a_script, test_tenants_in_the_order_of_their_names, test_the_device_that_knows_the_work,
	test_whatever_a_script_does_nothing_is_lost, test_the_policy_before_takes_over, test_scripts_that_are_refused,
	test_choices_that_cannot_be)
