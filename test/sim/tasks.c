/* The tasks of a simulated worker, as lib/worker treats them: each reads its inputs straight from who holds them, as
 * many reads at once and as many bytes ahead as a worker allows itself, while the device executes another; then it
 * waits for its device, which executes one task at a time. */
#include "test/sim/sim.h"

#include "core/again.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OFFERED_BYTES  (64 * 1024)
#define DRAWN_BYTES    4000 /* of an item, where chance decides: a few hundred at most */
#define DRAWN_HOLDINGS 16   /* items that lie at one place */

struct sim_task {
	struct dlsi_list node;  /* on worker->tasks */
	struct dlsi_list queue; /* on worker->readers, then on its device's ready */
	struct sim_device *device;
	unsigned spec;              /* of its job */
	struct sim_content content; /* what its result will be */
	uint64_t item_bytes;
	uint64_t next;    /* the first item whose input has not been asked for */
	unsigned missing; /* reads under way */
	bool located;     /* where its rows lie is known */
	bool admitted;    /* its inputs have room */
	bool cancelled;
	bool recalled; /* before it began, or had done an item */
	uint32_t left; /* items that it was stopped before */
	int64_t takes_ns;
};

struct read {
	struct sim_transfer transfer; /* first */
	struct sim_task *task;
	uint64_t life; /* of the worker */
};

void sim_tasks_init(struct sim_node *node)
{
	dlsi_map_init(&node->task_by_attempt, &dlsi_alloc_libc, 1);
	dlsi_list_init(&node->tasks);
	dlsi_list_init(&node->readers);
	sim_models_init(node);
	node->reads = 0;
	node->input_bytes = 0;
	for (unsigned i = 0; i < SIM_DEVICES; i++) {
		node->devices[i].load = 0;
		memset(node->devices[i].loads, 0, sizeof node->devices[i].loads);
		node->devices[i].busy = false;
		node->devices[i].busy_until_ns = 0;
		dlsi_list_init(&node->devices[i].ready);
	}
}

void sim_tasks_clear(struct sim_node *node)
{
	dlsi_map_fini(&node->task_by_attempt);
	dlsi_list_each (task, &node->tasks)
		free(dlsi_list_entry(task, struct sim_task, node));
	dlsi_list_init(&node->tasks);
}

static uint64_t count(const struct sim_task *task)
{
	return task->content.end - task->content.first;
}

static uint64_t input_bytes(const struct sim_task *task)
{
	return count(task) * task->item_bytes;
}

static void unload(struct sim_task *task)
{
	task->device->load--;
	task->device->loads[task->spec]--;
}

bool sim_item_fails(const struct sim *sim, uint64_t attempt, uint64_t item)
{
	uint64_t mixed = (attempt ^ sim->seed << 32) * UINT64_C(0x9e3779b97f4a7c15) + item;

	return (mixed * UINT64_C(0xbf58476d1ce4e5b9)) >> 62 == 0;
}

/* The items of the task that fail and are to be tried again. */
static void list_again(const struct sim *sim, const struct sim_task *task, struct dlsi_buffer *again)
{
	struct sim_job *job = sim_client_job(sim, &task->content.job);

	for (uint64_t item = task->content.first; job && sim_specs[task->spec].retries && item < task->content.end;
		item++) {
		if (!sim_item_fails(sim, task->content.attempt, item))
			continue;
		dlsi_again_add(again, &(struct dlsi_again){item, item + 1, DLSI_FAILURE_ERROR});
		job->failures[item]++;
	}
}

static struct dlsi_event end_task(struct sim *sim, struct sim_node *node, struct sim_task *task)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_EXECUTED, .job = task->content.job};
	struct dlsi_id key = dlsi_map_key(0, task->content.attempt);

	event.attempt = task->content.attempt;
	event.executed.elapsed_ns = (uint64_t)task->takes_ns;
	event.executed.dropped = task->recalled || (task->cancelled && sim_chance(sim, 50));
	event.executed.left = task->left;
	if (!event.executed.dropped) {
		event.executed.payload = sim_payload_add(sim, node, task->content);
		if (task->content.bytes > OFFERED_BYTES) {
			event.executed.offer.length = task->content.bytes;
			event.executed.offer.proof = DLSI_PROOF_CHECKSUM;
		}
	}
	if (!task->cancelled)
		unload(task);
	node->input_bytes -= input_bytes(task);
	dlsi_map_remove(&node->task_by_attempt, &key);
	dlsi_list_remove(&task->queue);
	dlsi_list_remove(&task->node);
	free(task);
	return event;
}

static void execute_next(struct sim *sim, struct sim_node *node, struct sim_device *device);
static void read_on(struct sim *sim, struct sim_node *node);

static void executed(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *node = happening->at;
	struct sim_device *device = &node->devices[happening->number];
	struct sim_task *task = dlsi_list_entry(device->ready.next, struct sim_task, queue);
	struct dlsi_buffer again;
	struct dlsi_event event;

	if (happening->submission != device->ends) /* it was stopped before */
		return;
	dlsi_buffer_init(&again, &dlsi_alloc_libc);
	list_again(sim, task, &again);
	event = end_task(sim, node, task);
	event.executed.again = dlsi_again_list(&again);
	device->busy = false;
	execute_next(sim, node, device);
	read_on(sim, node);
	sim_node_step(sim, node, &event);
	dlsi_buffer_fini(&again);
}

/* Of what the device executes; an end that was planned before does not come. */
static void end_in(struct sim *sim, struct sim_node *node, struct sim_device *device, int64_t delay_ns)
{
	struct sim_happening *happening = sim_schedule(sim, delay_ns, node, executed);

	happening->number = (uint64_t)(device - node->devices);
	happening->submission = ++device->ends;
}

static int64_t draw_duration(struct sim *sim)
{
	return 1 + (int64_t)sim_below(sim, sim_chance(sim, 5) ? 2 * SIM_S : 20 * SIM_MS);
}

static void execute_next(struct sim *sim, struct sim_node *node, struct sim_device *device)
{
	struct sim_task *task;

	if (device->busy || dlsi_list_empty(&device->ready))
		return;
	if (device->busy_until_ns > sim->now_ns)
		sim_fail(sim, "a device executes more than one task");
	task = dlsi_list_entry(device->ready.next, struct sim_task, queue);
	if (!task->cancelled)
		task->takes_ns = sim->plan ? sim->plan->run_ns(sim, node->index, count(task)) : draw_duration(sim);
	device->busy = true;
	device->busy_until_ns = sim->now_ns + task->takes_ns;
	device->busy_ns += task->takes_ns;
	end_in(sim, node, device, task->takes_ns);
}

/* ---- its inputs */

/* Where an item's input lies, where chance decides: anywhere, and mostly not here. */
static struct sim_node *draw_holder(struct sim *sim, uint64_t item, uint64_t *end_out)
{
	uint64_t place = item / DRAWN_HOLDINGS, nodes = sim->client_count + sim->worker_count;

	*end_out = (place + 1) * DRAWN_HOLDINGS;
	place = (place * 7 + sim->seed) % nodes;
	return place < sim->client_count ? &sim->clients[place] : &sim->workers[place - sim->client_count];
}

/* The next inputs of the task that lie side by side. */
static struct sim_node *next_read(struct sim *sim, struct sim_task *task, uint64_t *items_out)
{
	uint64_t end, most = DLSI_TASK_READ_BYTES / (task->item_bytes + 1) + 1;
	struct sim_node *holder =
		sim->plan ? sim->plan->holder(sim, task->next, &end) : draw_holder(sim, task->next, &end);

	if (end > task->content.end)
		end = task->content.end;
	if (end - task->next > most)
		end = task->next + most;
	*items_out = end - task->next;
	task->next = end;
	return holder;
}

static void get_ready(struct sim *sim, struct sim_node *node, struct sim_task *task)
{
	dlsi_list_remove(&task->queue);
	dlsi_list_append(&task->device->ready, &task->queue);
	execute_next(sim, node, task->device);
}

static void arrived(struct sim *sim, struct sim_transfer *transfer)
{
	struct read *read = (struct read *)transfer;
	struct sim_node *node = transfer->to;
	struct sim_task *task = read->task;
	bool is_late = !node->up || node->life != read->life;

	free(read);
	if (is_late)
		return;
	node->reads--;
	if (--task->missing == 0 && task->next == task->content.end)
		get_ready(sim, node, task);
	read_on(sim, node);
}

static void begin_read(struct sim *sim, struct sim_node *node, struct sim_task *task)
{
	struct read *read = sim_calloc(sizeof *read);
	uint64_t items;

	read->task = task;
	read->life = node->life;
	read->transfer.from = next_read(sim, task, &items);
	read->transfer.to = node;
	read->transfer.bytes = items * task->item_bytes;
	read->transfer.arrived = arrived;
	task->missing++;
	node->reads++;
	sim_transfer_begin(sim, &read->transfer);
}

static bool admit(struct sim_node *node, struct sim_task *task)
{
	if (!task->admitted && node->input_bytes && node->input_bytes + input_bytes(task) > DLSI_PREFETCH_BYTES)
		return false;
	if (!task->admitted)
		node->input_bytes += input_bytes(task);
	task->admitted = true;
	return true;
}

/* Begins the reads that may begin, in the order of the tasks. */
static void read_on(struct sim *sim, struct sim_node *node)
{
	while (node->reads < DLSI_FETCHES_AT_ONCE && !dlsi_list_empty(&node->readers)) {
		struct sim_task *task = dlsi_list_entry(node->readers.next, struct sim_task, queue);

		if (!admit(node, task))
			return;
		begin_read(sim, node, task);
		if (task->next == task->content.end)
			dlsi_list_remove(&task->queue);
	}
}

/* ---- its rows of the list of inputs, by a plan: where they lie in their page, and then those */

static void rows_arrived(struct sim *sim, struct sim_transfer *transfer);

static void read_rows(struct sim *sim, struct sim_node *node, struct sim_task *task, uint64_t bytes)
{
	struct read *read = sim_calloc(sizeof *read);

	read->task = task;
	read->life = node->life;
	read->transfer.from = &sim->clients[0];
	read->transfer.to = node;
	read->transfer.bytes = bytes;
	read->transfer.arrived = rows_arrived;
	sim_transfer_begin(sim, &read->transfer);
}

static void rows_arrived(struct sim *sim, struct sim_transfer *transfer)
{
	struct read *read = (struct read *)transfer;
	struct sim_node *node = transfer->to;
	struct sim_task *task = read->task;

	free(read);
	if (!task->located) {
		task->located = true;
		read_rows(sim, node, task, count(task) * sim->plan->row_bytes);
		return;
	}
	dlsi_list_append(&node->readers, &task->queue);
	read_on(sim, node);
}

/* A worker's first task waits for the head of the list too. */
static void locate_rows(struct sim *sim, struct sim_node *node, struct sim_task *task)
{
	uint64_t head = node->has_head ? 0 : sim->plan->head_bytes;

	node->has_head = true;
	read_rows(sim, node, task, head + 8 * (count(task) + 1));
}

static void get_inputs(struct sim *sim, struct sim_node *node, struct sim_task *task)
{
	if (sim->plan) {
		locate_rows(sim, node, task);
		return;
	}
	dlsi_list_append(&node->readers, &task->queue);
	read_on(sim, node);
}

/* ---- what the agent wants */

static struct sim_task *find(struct sim_node *node, uint64_t attempt)
{
	struct dlsi_id key = dlsi_map_key(0, attempt);

	return dlsi_map_get(&node->task_by_attempt, &key);
}

static struct sim_content describe(struct sim *sim, const struct dlsi_effect *effect)
{
	return (struct sim_content){
		.job = effect->job,
		.attempt = effect->attempt,
		.first = effect->first,
		.end = effect->end,
		.bytes = sim->plan ? (effect->end - effect->first) * sim->plan->result_bytes
				   : 1 + sim_below(sim, sim_chance(sim, 80) ? OFFERED_BYTES : 4 * OFFERED_BYTES),
	};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Whichever of its tasks each device executes, the worker has what they take together. */
static void check_resources(struct sim *sim, const struct sim_node *node)
{
	uint64_t cores = 0, gpus = 0;

	for (unsigned i = 0; i < SIM_DEVICES; i++) {
		uint64_t most_cores = 0, most_gpus = 0;

		for (unsigned j = 0; j < SIM_SPECS; j++) {
			if (!node->devices[i].loads[j])
				continue;
			most_cores = larger(most_cores, sim_specs[j].cores);
			most_gpus = larger(most_gpus, sim_specs[j].gpus);
		}
		cores += most_cores;
		gpus += most_gpus;
	}
	if (cores > node->cores || gpus > node->gpus)
		sim_fail(sim, "%" PRIu64 " cores and %" PRIu64 " gpus are in use of %" PRIu64 " and %" PRIu64, cores,
			gpus, node->cores, node->gpus);
}

static void load(struct sim *sim, const struct sim_node *node, struct sim_task *task)
{
	const struct sim_job *job = sim_client_job(sim, &task->content.job);

	task->spec = job ? job->spec : 0; /* its client has gone, and nobody knows any more */
	if (++task->device->load > task->device->credits)
		sim_fail(sim, "a device has more than the %" PRIu64 " tasks that it takes", task->device->credits);
	task->device->loads[task->spec]++;
	if (sim_specs[task->spec].labelled && !node->labelled)
		sim_fail(sim, "a worker is to execute what asks for a label that it has not");
	check_resources(sim, node);
}

void sim_task_execute(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct sim_task *task = sim_calloc(sizeof *task);
	struct dlsi_id key = dlsi_map_key(0, effect->attempt);

	if (find(node, effect->attempt))
		sim_fail(sim, "a worker is to execute an attempt twice");
	sim->executions++;
	task->content = describe(sim, effect);
	task->next = effect->first;
	task->item_bytes = sim->plan ? sim->plan->item_bytes : sim_below(sim, DRAWN_BYTES);
	task->device = &node->devices[effect->execute.device];
	load(sim, node, task);
	if (dlsi_map_put(&node->task_by_attempt, &key, task))
		abort();
	dlsi_list_append(&node->tasks, &task->node);
	dlsi_list_init(&task->queue);
	if (!sim_specs[task->spec].models || sim_model_get(sim, node, &task->content.job))
		get_inputs(sim, node, task);
	else
		dlsi_list_append(&node->lackers, &task->queue);
}

void sim_tasks_have_model(struct sim *sim, struct sim_node *node)
{
	while (!dlsi_list_empty(&node->lackers)) {
		struct sim_task *task = dlsi_list_entry(node->lackers.next, struct sim_task, queue);

		dlsi_list_remove(&task->queue);
		get_inputs(sim, node, task);
	}
}

/* Whether nothing has been begun of it but to have read its inputs. */
static bool waits_for_device(const struct sim_task *task)
{
	bool first = task->device->ready.next == &task->queue;

	return task->admitted && task->next == task->content.end && !task->missing && !(first && task->device->busy);
}

/* Stops the task that its device executes behind the item that it is at. */
static void stop(struct sim *sim, struct sim_node *node, struct sim_task *task)
{
	struct sim_device *device = task->device;
	int64_t began_ns = device->busy_until_ns - task->takes_ns;
	int64_t item_ns = task->takes_ns / (int64_t)count(task) + 1;
	uint64_t done = (uint64_t)((sim->now_ns - began_ns) / item_ns) + sim_below(sim, 2);
	int64_t until_ns = began_ns + (int64_t)done * item_ns;

	if (task->cancelled || task->left || done >= count(task) || until_ns <= sim->now_ns)
		return;
	device->busy_ns -= device->busy_until_ns - until_ns;
	device->busy_until_ns = until_ns;
	task->takes_ns = until_ns - began_ns;
	task->left = (uint32_t)(count(task) - done);
	task->content.end -= task->left;
	task->next = task->content.end;
	node->input_bytes -= task->left * task->item_bytes;
	end_in(sim, node, device, until_ns - sim->now_ns);
}

static bool is_executed(const struct sim_task *task)
{
	return task->device->busy && task->device->ready.next == &task->queue;
}

static void hand_back(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *node = happening->at;
	struct sim_task *task = find(node, happening->number);
	struct dlsi_event event;

	if (!task || !waits_for_device(task))
		return;
	task->recalled = true;
	event = end_task(sim, node, task);
	read_on(sim, node);
	sim_node_step(sim, node, &event);
}

static void hand_back_rest(struct sim *sim, struct sim_happening *happening)
{
	struct sim_task *task = find(happening->at, happening->number);

	if (task && is_executed(task))
		stop(sim, happening->at, task);
	else
		hand_back(sim, happening);
}

void sim_task_recall(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	int64_t delay_ns = (int64_t)sim_below(sim, 2 * SIM_MS);

	sim_schedule(sim, delay_ns, node, effect->recall.running ? hand_back_rest : hand_back)->number =
		effect->attempt;
}

void sim_task_cancel(struct sim_node *node, uint64_t attempt)
{
	struct sim_task *task = find(node, attempt);

	if (!task || task->cancelled)
		return;
	task->cancelled = true;
	unload(task);
}
