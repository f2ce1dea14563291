/* Stragglers: tasks that have run for longer than almost all of their kind, as a multiple of what was expected of each,
 * while another worker's device has nothing to do. Such a task is run there a second time; the result that comes first
 * counts, the other attempt is called off. That helps where a device hangs or has become slow, whatever the reason.
 *
 * Rules. A task of many items is first asked for its rest (master_relief.c), which is cheaper. Both attempts have the
 * same items, which count once; each is the other's twin, and whichever is lost leaves all of them to the other. So
 * does one that stops between two items. No task has more than one twin. The pairs that there are at a time take a
 * bounded part of the devices. Jobs may say no. */
#include "core/master_commands.h"
#include "core/master_moves.h"

#define REVIEW_NS 50000000 /* how often running tasks are looked at */

const struct speculation dlsi_speculation_default = {
	.percent = 10,
	.quantile = 0.95,
	.factor = 1.5,
	.least_ns = 100000000,
};

int dlsi_speculation_read(const cJSON *params, struct speculation *speculation, struct dls_error *err)
{
	static const char *const known[] = {"percent", "quantile", "factor", "least_ms", NULL};
	struct dlsi_json_reader reader = dlsi_json_read(params, "the parameters of second runs", known, err);
	struct speculation read = dlsi_speculation_default;

	read.percent = (unsigned)dlsi_json_integer(&reader, "percent", read.percent, 0, 100);
	read.quantile = dlsi_json_number(&reader, "quantile", read.quantile);
	read.factor = dlsi_json_number(&reader, "factor", read.factor);
	read.least_ns = dlsi_json_integer(&reader, "least_ms", read.least_ns / 1000000, 1, 3600000) * 1000000;
	if (reader.rc)
		return reader.rc;
	if (!(read.quantile >= 0.5 && read.quantile <= 1) || !(read.factor >= 1 && read.factor <= 1000))
		return dlsi_fail(err, DLS_EINVAL,
			"the parameters of second runs: quantile is from 0.5 to 1 and factor from 1 to 1000");
	*speculation = read;
	return 0;
}

/* How long it may run before it is late; UINT64_MAX: nobody knows. */
static uint64_t patience_ns(const struct dlsi_master *master, const struct task *task)
{
	const struct speculation *rules = &master->speculation;
	uint64_t expected_ns = dlsi_task_expected_ns(task, task->device);
	double late_ns = (double)expected_ns * rules->factor *
			 dlsi_lateness_quantile(&task->job->spec->class->lateness, rules->quantile);

	if (!expected_ns || late_ns > (double)INT64_MAX)
		return UINT64_MAX;
	return late_ns > (double)rules->least_ns ? (uint64_t)late_ns : (uint64_t)rules->least_ns;
}

static bool may_repeat(const struct dlsi_master *master, const struct task *task)
{
	const struct job *job = task->job;
	uint64_t most = (uint64_t)job->spec->class->devices * master->speculation.percent / 100;

	if (!master->speculation.percent || job->spec->once || task->twin)
		return false;
	if (job->state != DLSI_JOB_ACTIVE || job->ending || job->paused || !dlsi_tenant_may(dlsi_job_queue(job)))
		return false;
	return master->pairs < (most ? most : 1);
}

/* Whether it was asked for its rest and has not stopped for as long as an item may take. */
static bool is_deaf(const struct dlsi_master *master, const struct task *task, uint64_t patience)
{
	uint64_t item_ns = patience / (task->end - task->first);

	return task->stopped_ns && (uint64_t)(master->now_ns - task->stopped_ns) > item_ns;
}

bool dlsi_task_outrun(struct dlsi_master *master, struct task *front, struct device *idle)
{
	uint64_t ran_ns = (uint64_t)(master->now_ns - dlsi_task_began_ns(front)), patience = patience_ns(master, front);

	if (ran_ns < patience || !may_repeat(master, front))
		return false;
	if (front->end - front->first > 1 && !is_deaf(master, front, patience))
		return false;
	if (dlsi_task_expected_ns(front, idle) >= ran_ns) /* it may well last as long again */
		return false;
	dlsi_task_repeat(master, front, idle);
	return true;
}

/* The device of another worker that has nothing to do and is expected to do the task first; NULL: there is none. */
static struct device *find_idle(struct dlsi_master *master, const struct task *task)
{
	struct dlsi_policy_device *devices[16];
	size_t count = dlsi_devices_for(master, task->job->spec->class, devices, 16);
	struct device *best = NULL;

	for (size_t i = 0; i < count && !devices[i]->held; i++) {
		struct device *device = dlsi_list_entry(devices[i], struct device, policy);

		if (device->worker != task->device->worker &&
			(!best || dlsi_task_expected_ns(task, device) < dlsi_task_expected_ns(task, best)))
			best = device;
	}
	return best;
}

static void review_device(struct dlsi_master *master, const struct device *device)
{
	struct task *front = device->policy.held ? dlsi_device_front(device) : NULL;
	struct device *idle;

	if (!front || master->now_ns - dlsi_task_began_ns(front) < master->speculation.least_ns)
		return;
	idle = find_idle(master, front);
	if (idle && !dlsi_task_relieve(master, front, idle))
		dlsi_task_outrun(master, front, idle);
}

void dlsi_master_review(struct dlsi_master *master)
{
	if (!master->review_due)
		return;
	master->review_due = false;
	if (!master->task_by_attempt.count)
		return;
	dlsi_master_set_timer(master, &master->review, master->now_ns + REVIEW_NS);
	dlsi_master_preempt(master);
	if (dlsi_list_empty(&master->loaded[0]))
		return;
	dlsi_list_each (node, &master->workers) {
		const struct worker *worker = dlsi_list_entry(node, struct worker, node);

		for (uint16_t i = 0; i < worker->device_count && worker->peer; i++)
			review_device(master, &worker->devices[i]);
	}
}

void dlsi_master_review_later(struct dlsi_master *master)
{
	if (!master->review.node.place && !master->review_due)
		dlsi_master_set_timer(master, &master->review, master->now_ns + REVIEW_NS);
}

int dlsi_command_speculation(struct request *request)
{
	const cJSON *params = dlsi_json_object(&request->reader, "params");
	struct speculation *rules = &request->master->speculation;
	int rc = request->reader.rc;

	if (rc == 0 && params)
		rc = dlsi_speculation_read(params, rules, request->err);
	cJSON_AddNumberToObject(request->answer, "percent", rules->percent);
	cJSON_AddNumberToObject(request->answer, "quantile", rules->quantile);
	cJSON_AddNumberToObject(request->answer, "factor", rules->factor);
	cJSON_AddNumberToObject(request->answer, "least_ms", (double)rules->least_ns / 1e6);
	return rc;
}
