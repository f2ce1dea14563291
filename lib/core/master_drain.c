/* Workers that get no more tasks: those that an operator drains, and those that are about to leave. What they have is
 * recalled and goes to others; what they run stops between two items, or comes to its end, and counts as far as it has
 * come. */
#include "core/master_commands.h"
#include "core/master_moves.h"
#include "core/master_news.h"

#include "proto/bytes.h"
#include <string.h>

/* One of the two reasons has changed. */
static void follow(struct dlsi_master *master, struct worker *worker, bool was_open)
{
	bool is_open = dlsi_worker_is_open(worker);

	if (is_open == was_open)
		return;
	for (uint16_t i = 0; i < worker->device_count; i++)
		dlsi_device_place(master, &worker->devices[i]);
	dlsi_classes_count(master, worker, is_open);
	dlsi_news_of_worker(master, worker, is_open ? "takes tasks again" : "is draining");
}

void dlsi_worker_handback(struct dlsi_master *master, struct worker *worker, const struct dlsi_handback *record)
{
	bool was_open = dlsi_worker_is_open(worker);

	worker->leaving |= record->leaving != 0;
	follow(master, worker, was_open);
	for (uint32_t i = 0; i < record->attempts.count; i++) {
		struct task *task = dlsi_task_find(master, dlsi_numbers_at(&record->attempts, i));

		if (!task || !task->device || task->device->worker != worker || task->state != DLSI_TASK_ASSIGNED)
			continue;
		task->job->run->moves++;
		dlsi_task_drop(master, task, true);
	}
}

void dlsi_worker_recall(
	struct dlsi_master *master, struct worker *worker, const struct dlsi_buffer *attempts, bool running)
{
	struct dlsi_record record = {.kind = DLSI_RECALL};

	master->failed |= attempts->failed;
	record.recall.running = running;
	record.recall.attempts = (struct dlsi_numbers){attempts->data, (uint32_t)(attempts->length / 8)};
	if (worker->peer && attempts->length && !attempts->failed)
		dlsi_master_post(master, worker->peer, &record, (struct dlsi_payload){0});
}

static void recall_all(struct dlsi_master *master, struct worker *worker)
{
	struct dlsi_buffer attempts;

	dlsi_buffer_init(&attempts, master->alloc);
	dlsi_list_each (node, &worker->tasks)
		dlsi_write_u64(&attempts, dlsi_list_entry(node, struct task, worker_node)->attempt);
	dlsi_worker_recall(master, worker, &attempts, true);
	dlsi_buffer_fini(&attempts);
}

static int find_worker(struct request *request, struct worker **worker_out)
{
	const char *name = dlsi_json_text(&request->reader, "worker", "");
	struct dlsi_id key = dlsi_hash_key(name, strlen(name));
	struct worker *worker = dlsi_map_get(&request->master->worker_by_name, &key);

	dlsi_json_require(&request->reader, "worker");
	if (request->reader.rc)
		return request->reader.rc;
	if (!worker)
		return dlsi_fail(request->err, DLS_ENOTFOUND, "the master has no worker \"%.255s\"", name);
	*worker_out = worker;
	return 0;
}

/* What an operator wants to see of it: whether it may be stopped. */
static void describe(struct request *request, const struct worker *worker)
{
	uint64_t held = 0;

	for (uint16_t i = 0; i < worker->device_count; i++)
		held += worker->devices[i].policy.held;
	cJSON_AddStringToObject(request->answer, "worker", worker->origin->name);
	cJSON_AddBoolToObject(request->answer, "draining", worker->drained || worker->leaving);
	cJSON_AddNumberToObject(request->answer, "held", (double)held);
}

static int set_drained(struct request *request, bool drained)
{
	struct worker *worker = NULL;
	bool was_open;
	int rc = find_worker(request, &worker);

	if (rc)
		return rc;
	if (!drained && worker->leaving)
		return dlsi_fail(request->err, DLS_ESTATE, "the worker \"%s\" is about to leave by itself",
			worker->origin->name);
	was_open = dlsi_worker_is_open(worker);
	worker->drained = drained;
	follow(request->master, worker, was_open);
	if (drained)
		recall_all(request->master, worker);
	describe(request, worker);
	return 0;
}

int dlsi_command_drain(struct request *request)
{
	return set_drained(request, true);
}

int dlsi_command_undrain(struct request *request)
{
	return set_drained(request, false);
}
