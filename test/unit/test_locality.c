/* Models that take a while to load: a master with workers that hold few of them at a time, on a clock, and how often
 * they load one. */
#include "core/agent.h"
#include "test/unit/machine.h"
#include "test/unit/unit.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CLIENT, WORKERS = 4, MODELS = 10, QUEUED = 16, TASK_ITEMS = 5, ITEM_MS = 20, LOAD_MS = 1000 };

struct worker {
	struct dlsi_assign tasks[QUEUED]; /* the first one runs */
	unsigned task_count;
	unsigned models[MODELS], model_count; /* the one used last at the end */
	int64_t ends_ns;                      /* of the task that runs */
	uint64_t load_ns;                     /* before it */
	unsigned evicted;                     /* 0: none */
};

struct world {
	struct unit_machine master;
	struct worker workers[1 + WORKERS]; /* by slot */
	unsigned worker_count, room;
	bool tells; /* workers say how long they load, and what they have no longer */
	unsigned loads;
	uint64_t done[1 + MODELS];
};

static struct dlsi_hash name_of(unsigned model)
{
	return (struct dlsi_hash){{(uint8_t)model}};
}

/* Whether it has to load it. */
static bool touch(const struct world *world, struct worker *worker, unsigned model)
{
	unsigned at = 0;
	bool missing;

	while (at < worker->model_count && worker->models[at] != model)
		at++;
	missing = at == worker->model_count;
	worker->evicted = missing && at == world->room ? worker->models[0] : 0;
	if (missing && at < world->room)
		worker->model_count++;
	else
		memmove(worker->models + (missing ? 0 : at), worker->models + (missing ? 0 : at) + 1,
			(worker->model_count - (missing ? 0 : at) - 1) * sizeof *worker->models);
	worker->models[worker->model_count - 1] = model;
	return missing;
}

static void begin_task(struct world *world, struct worker *worker)
{
	const struct dlsi_assign *task = &worker->tasks[0];
	bool loads = touch(world, worker, task->job.bytes[0]);

	world->loads += loads;
	worker->load_ns = loads ? (uint64_t)LOAD_MS * UNIT_MS : 0;
	worker->ends_ns = world->master.now_ns + (int64_t)worker->load_ns +
			  (int64_t)(task->end - task->first) * ITEM_MS * UNIT_MS;
}

/* What the master has now given out. */
static void collect(struct world *world)
{
	for (uint32_t slot = 1; slot <= world->worker_count; slot++) {
		struct worker *worker = &world->workers[slot];

		for (unsigned i = 0; i < unit_machine_count(&world->master, slot, DLSI_ASSIGN); i++) {
			assert_true(worker->task_count < QUEUED);
			worker->tasks[worker->task_count++] = unit_assigned(&world->master, slot, i);
			if (worker->task_count == 1)
				begin_task(world, worker);
		}
	}
}

static void add_worker(struct world *world)
{
	uint32_t slot = ++world->worker_count;
	char name[8];

	snprintf(name, sizeof name, "w%u", slot);
	unit_register_worker(&world->master, slot, slot, name, 2, DLSI_HANDLER_MODEL);
	collect(world);
}

/* The specification of its jobs. */
static void name_model(struct world *world, unsigned model)
{
	char spec[200], name[DLSI_HASH_TEXT_BYTES];

	dlsi_hex(name_of(model).bytes, DLSI_HASH_BYTES, name);
	snprintf(spec, sizeof spec, "{\"model\":{\"bundle\":\"%s\",\"bytes\":9},\"task_items\":%d}", name, TASK_ITEMS);
	unit_machine_say(&world->master, CLIENT, unit_spec(model, spec));
}

static void begin(struct world *world, unsigned workers, unsigned room, bool tells)
{
	*world = (struct world){.room = room, .tells = tells};
	unit_master_init(&world->master, unit_alloc(), false);
	unit_register_client(&world->master, CLIENT, 1000);
	for (unsigned model = 1; model <= MODELS; model++)
		name_model(world, model);
	while (workers--)
		add_worker(world);
}

static void submit(struct world *world, uint8_t model, uint64_t items)
{
	unit_machine_say(&world->master, CLIENT, unit_submit(model, model, items));
	collect(world);
}

/* The next task ends. False: none runs. */
static bool pass(struct world *world)
{
	struct dlsi_record records[2] = {{.kind = DLSI_UNLOADED}};
	struct worker *worker = NULL;
	struct dlsi_assign task;

	for (uint32_t slot = 1; slot <= world->worker_count; slot++)
		if (world->workers[slot].task_count && (!worker || world->workers[slot].ends_ns < worker->ends_ns))
			worker = &world->workers[slot];
	if (!worker)
		return false;
	world->master.now_ns = worker->ends_ns;
	task = worker->tasks[0];
	world->done[task.job.bytes[0]] += task.end - task.first;
	records[0].unloaded.model = name_of(worker->evicted);
	records[1] = unit_result(&task, 100, false);
	records[1].result.elapsed_ns = (task.end - task.first) * ITEM_MS * UNIT_MS;
	records[1].result.load_ns = world->tells ? worker->load_ns : 0;
	if (world->tells && worker->evicted)
		unit_machine_tell(&world->master, (uint32_t)(worker - world->workers), records, 2);
	else
		unit_machine_say(&world->master, (uint32_t)(worker - world->workers), records[1]);
	memmove(worker->tasks, worker->tasks + 1, --worker->task_count * sizeof *worker->tasks);
	if (worker->task_count)
		begin_task(world, worker);
	collect(world);
	unit_ack(&world->master, CLIENT, task.job.bytes[0], &task.attempt, 1, NULL, 0);
	collect(world);
	return true;
}

/* Seconds until all is done. */
static double run(struct world *world)
{
	int64_t begun_ns = world->master.now_ns;

	while (pass(world))
		;
	return (double)(world->master.now_ns - begun_ns) / UNIT_S;
}

/* Jobs of ten models on four workers, all at once; every item is done. */
static double run_models(unsigned room, bool tells, uint64_t items, unsigned *loads_out)
{
	struct world *world = dlsi_calloc(unit_alloc(), 1, sizeof *world);
	double took;

	assert_non_null(world);
	begin(world, WORKERS, room, tells);
	for (uint8_t model = 1; model <= MODELS; model++)
		submit(world, model, items);
	took = run(world);
	for (unsigned model = 1; model <= MODELS; model++)
		assert_int_equal(world->done[model], items);
	*loads_out = world->loads;
	unit_machine_fini(&world->master);
	dlsi_free(unit_alloc(), world);
	return took;
}

/* Together the workers have room for all models, and without knowing who has which they load all the time. */
static void test_models_stay_where_they_are_loaded(void **state)
{
	enum { ITEMS = 500 };
	unsigned blind_loads, loads;
	double blind = run_models(3, false, ITEMS, &blind_loads), took = run_models(3, true, ITEMS, &loads);

	(void)state;
	print_message("10 models on 4 workers with room for 3: %u loads and %.1f s, without locality %u and %.1f s\n",
		loads, took, blind_loads, blind);
	assert_true(loads <= 3 * MODELS);
	assert_true(blind_loads > 10 * loads);
	assert_true(took < blind / 3);
}

/* They have room for four of the ten: each model gets its turn, and a worker does more with one than to load it. */
static void test_models_that_do_not_fit_take_turns(void **state)
{
	enum { ITEMS = 500 };
	unsigned blind_loads, loads;
	double blind = run_models(1, false, ITEMS, &blind_loads), took = run_models(1, true, ITEMS, &loads);

	(void)state;
	print_message("10 models on 4 workers with room for 1: %u loads and %.1f s, without locality %u and %.1f s\n",
		loads, took, blind_loads, blind);
	assert_true(blind_loads > 5 * loads);
	assert_true(took < blind / 3);
}

/* A long job of the only model takes all workers, also those that come later; a short one does not. */
static void test_a_long_job_is_worth_loads(void **state)
{
	struct world world;

	(void)state;
	for (unsigned is_long = 0; is_long < 2; is_long++) {
		begin(&world, 1, 3, true);
		submit(&world, 1, TASK_ITEMS);
		run(&world);
		submit(&world, 1, is_long ? 2000 : 20);
		while (world.worker_count < WORKERS)
			add_worker(&world);
		run(&world);
		assert_int_equal(world.loads, is_long ? WORKERS : 1);
		unit_machine_fini(&world.master);
	}
}

UNIT_MAIN(
	test_models_stay_where_they_are_loaded, test_models_that_do_not_fit_take_turns, test_a_long_job_is_worth_loads)
