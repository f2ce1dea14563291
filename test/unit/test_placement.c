/* Policies that look ahead, over a made-up cluster of devices of different speeds that run what they are given, one
 * task at a time, on a clock: how long a job takes, against the shortest time that is possible. And shares per worker.
 */
#include "policy/registry.h"
#include "test/unit/policy.h"
#include "test/unit/unit.h"

#include <string.h>

enum { DEVICES = 12, CREDITS = 2, S = 1000000000, MS = 1000000, SEEDS = 100 };

struct device {
	struct dlsi_policy_device policy;
	uint64_t item_ns;         /* that it takes */
	uint64_t known_ns;        /* as far as is known; 0: it has never finished one */
	int64_t ends_ns[CREDITS]; /* of the tasks it holds, the first one first */
	uint64_t items[CREDITS];
	struct dlsi_resources used[2]; /* by tenants 0 and 1 */
};

struct cluster {
	const struct dlsi_policy_ops *ops;
	void *policy;
	struct dlsi_policy_tenant tenants[2];
	struct dlsi_policy_class classes[2];
	struct dlsi_policy_queue queues[2];
	struct dlsi_policy_job jobs[2];
	struct device devices[DEVICES];
	unsigned device_count;
	struct dlsi_resources total, each; /* of a device that is a worker of its own */
	struct dlsi_policy_view view;
	uint64_t running; /* items of the first job */
	unsigned asked;   /* for candidates */
};

static size_t candidates(
	void *arg, const struct dlsi_policy_queue *queue, struct dlsi_policy_device **devices, size_t limit)
{
	struct cluster *cluster = arg;
	size_t count = 0;

	cluster->asked++;
	for (uint32_t held = 0; held < CREDITS; held++)
		for (unsigned i = 0; i < cluster->device_count && count < limit; i++) {
			struct device *device = &cluster->devices[i];
			struct dlsi_resources used = device->used[0];

			dlsi_resources_add(&used, &device->used[1]);
			dlsi_resources_add(&used, &queue->class->demand);
			if (device->policy.held == held && dlsi_resources_cover(&cluster->each, &used))
				devices[count++] = &device->policy;
		}
	return count;
}

static struct dlsi_policy_device *least_loaded(void *arg, const struct dlsi_policy_queue *queue)
{
	struct dlsi_policy_device *device;

	return candidates(arg, queue, &device, 1) ? device : NULL;
}

static struct device *device_of(const struct dlsi_policy_device *device)
{
	return dlsi_list_entry(device, struct device, policy);
}

static struct dlsi_policy_expectation expect(
	void *arg, const struct dlsi_policy_queue *queue, const struct dlsi_policy_device *policy)
{
	const struct cluster *cluster = arg;
	const struct device *device = device_of(policy);
	uint32_t held = device->policy.held;

	(void)queue;
	return (struct dlsi_policy_expectation){
		.wait_ns = held && device->known_ns ? (uint64_t)(device->ends_ns[held - 1] - cluster->view.now_ns) : 0,
		.item_ns = device->known_ns,
		.tried = held || device->known_ns,
	};
}

static struct dlsi_policy_pace pace(void *arg, const struct dlsi_policy_queue *queue)
{
	const struct cluster *cluster = arg;
	struct dlsi_policy_pace pace = {0};

	(void)queue;
	for (unsigned i = 0; i < cluster->device_count; i++) {
		uint64_t known_ns = cluster->devices[i].known_ns;

		if (!known_ns)
			continue;
		pace.items_per_ns += 1.0 / (double)known_ns;
		if (!pace.fastest_ns || known_ns < pace.fastest_ns)
			pace.fastest_ns = known_ns;
	}
	return pace;
}

static double share_there(void *arg, const struct dlsi_policy_tenant *tenant, const struct dlsi_policy_device *device)
{
	const struct cluster *cluster = arg;

	return dlsi_resources_dominant(&device_of(device)->used[tenant->number], &cluster->each);
}

static uint64_t running(void *arg, const struct dlsi_policy_job *job)
{
	const struct cluster *cluster = arg;

	return job == &cluster->jobs[0] ? cluster->running : 0;
}

static void begin(struct cluster *cluster, const char *name, unsigned devices)
{
	cJSON *params = cJSON_CreateObject();

	memset(cluster, 0, sizeof *cluster);
	cluster->device_count = devices;
	for (unsigned i = 0; i < devices; i++)
		cluster->devices[i].policy = (struct dlsi_policy_device){.number = i, .credits = CREDITS};
	assert_int_equal(dlsi_policy_find(dlsi_policies, name, &cluster->ops, NULL), 0);
	assert_int_equal(cluster->ops->create(cluster->ops, unit_alloc(), params, &cluster->policy, NULL), 0);
	cJSON_Delete(params);
	cluster->view = (struct dlsi_policy_view){.total = &cluster->total,
		.least_loaded = least_loaded,
		.candidates = candidates,
		.expect = expect,
		.running = running,
		.pace = pace,
		.share_there = share_there,
		.turn = 1,
		.view_arg = cluster};
	for (unsigned i = 0; i < 2; i++) {
		cluster->tenants[i] = (struct dlsi_policy_tenant){.number = i, .weight = 1};
		cluster->queues[i].tenant = &cluster->tenants[i];
		cluster->queues[i].class = &cluster->classes[i];
		unit_policy_queue_init(&cluster->queues[i], 2, 1);
		cluster->jobs[i] = (struct dlsi_policy_job){
			.place.order = i, .deadline_ns = INT64_MAX, .queue = &cluster->queues[i]};
	}
}

static void end(struct cluster *cluster)
{
	for (unsigned i = 0; i < 2; i++)
		unit_policy_queue_fini(&cluster->queues[i]);
	cluster->ops->destroy(cluster->policy);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void give(struct cluster *cluster, const struct dlsi_policy_choice *choice, uint64_t items)
{
	struct device *device = device_of(choice->device);
	uint32_t held = device->policy.held;
	int64_t begins_ns = held ? device->ends_ns[held - 1] : cluster->view.now_ns;

	assert_true(held < CREDITS);
	device->ends_ns[held] = begins_ns + (int64_t)(items * device->item_ns);
	device->items[held] = items;
	device->policy.held++;
	choice->job->ready -= items;
	cluster->running += items;
}

/* The size of a task as the core divides: a share of what is left, of a tenth of a second at most, few where nothing is
 * known. */
static uint64_t usual(const struct cluster *cluster, const struct device *device)
{
	uint64_t share = cluster->jobs[0].ready / (2 * cluster->device_count) + 1;

	return smaller(share, device->known_ns ? 100 * MS / device->known_ns + 1 : 8);
}

/* Gives out what can be given out now. */
static void assign(struct cluster *cluster)
{
	struct dlsi_policy_job *job = &cluster->jobs[0];
	struct dlsi_policy_choice choice;

	cluster->view.turn++;
	while (job->ready && cluster->ops->choose(cluster->policy, &cluster->view, &choice)) {
		uint64_t items = usual(cluster, device_of(choice.device));

		assert_ptr_equal(choice.job, job);
		give(cluster, &choice, choice.items ? smaller(choice.items, items) : items);
		if (!job->ready)
			cluster->ops->idle(cluster->policy, job);
	}
}

/* Until the next task ends. */
static void pass(struct cluster *cluster)
{
	struct device *next = NULL;

	for (unsigned i = 0; i < cluster->device_count; i++) {
		struct device *device = &cluster->devices[i];

		if (device->policy.held && (!next || device->ends_ns[0] < next->ends_ns[0]))
			next = device;
	}
	assert_non_null(next); /* else the job would never end */
	cluster->view.now_ns = next->ends_ns[0];
	cluster->running -= next->items[0];
	next->known_ns = next->item_ns;
	next->ends_ns[0] = next->ends_ns[1];
	next->items[0] = next->items[1];
	next->policy.held--;
}

static int64_t run(struct cluster *cluster, uint64_t items)
{
	cluster->jobs[0].ready = items;
	cluster->ops->ready(cluster->policy, &cluster->jobs[0]);
	while (cluster->jobs[0].ready || cluster->running) {
		assign(cluster);
		pass(cluster);
	}
	return cluster->view.now_ns;
}

/* The shortest time in which the devices can do so many items. */
static int64_t optimum(const struct cluster *cluster, uint64_t items)
{
	int64_t low = 0, high = INT64_C(1) << 50;

	while (low + 1 < high) {
		int64_t middle = low + (high - low) / 2;
		uint64_t done = 0;

		for (unsigned i = 0; i < cluster->device_count; i++)
			done += (uint64_t)middle / cluster->devices[i].item_ns;
		*(done < items ? &low : &high) = middle;
	}
	return high;
}

/* Devices of speeds 4, 2 and 1, in an order that the seed draws. */
static void test_feedback_comes_near_the_optimum(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct cluster cluster;
		uint64_t items = 600 + dlsi_rng_below(&rng, 1000);
		int64_t best, took;

		begin(&cluster, "feedback", DEVICES);
		for (unsigned i = 0; i < DEVICES; i++)
			cluster.devices[i].item_ns = 10 * MS << dlsi_rng_below(&rng, 3);
		best = optimum(&cluster, items);
		took = run(&cluster, items);
		if (took > best + best / 20)
			fail_msg("seed %llu: %llu items took %.1f ms, %.1f are possible", (unsigned long long)seed,
				(unsigned long long)items, (double)took / MS, (double)best / MS);
		end(&cluster);
	}
}

/* The last items wait for fast devices instead of going to one that needs forty times as long. */
static void test_feedback_leaves_slow_devices_alone_at_the_end(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "feedback", 3);
	for (unsigned i = 0; i < 3; i++)
		cluster.devices[i].item_ns = cluster.devices[i].known_ns = i ? 10 * MS : 400 * MS;
	assert_true(run(&cluster, 20) <= 110 * MS);
	end(&cluster);
}

/* Few long items on many equal devices all run at once, although together the devices could do more. */
static void test_feedback_uses_all_devices_for_few_items(void **state)
{
	struct cluster cluster;

	(void)state;
	begin(&cluster, "feedback", DEVICES);
	for (unsigned i = 0; i < DEVICES; i++)
		cluster.devices[i].item_ns = cluster.devices[i].known_ns = S;
	assert_true(run(&cluster, DEVICES / 2) == S);
	end(&cluster);
}

/* A device that never ran such items gets one task, and no second before the first is over. */
static void test_feedback_tries_the_unknown_once(void **state)
{
	struct dlsi_policy_choice choice;
	struct cluster cluster;

	(void)state;
	begin(&cluster, "feedback", 2);
	cluster.devices[0].item_ns = cluster.devices[0].known_ns = 10 * MS;
	cluster.devices[1].item_ns = 20 * MS;
	cluster.jobs[0].ready = 100;
	cluster.ops->ready(cluster.policy, &cluster.jobs[0]);
	assert_true(cluster.ops->choose(cluster.policy, &cluster.view, &choice));
	assert_ptr_equal(choice.device, &cluster.devices[1].policy);
	give(&cluster, &choice, 1);
	assert_true(cluster.ops->choose(cluster.policy, &cluster.view, &choice));
	assert_ptr_equal(choice.device, &cluster.devices[0].policy);
	end(&cluster);
}

static void test_deadline_serves_the_most_urgent(void **state)
{
	struct dlsi_policy_choice choice;
	struct cluster cluster;

	(void)state;
	begin(&cluster, "deadline", 2);
	cluster.devices[0].item_ns = cluster.devices[0].known_ns = 20 * MS;
	cluster.devices[1].item_ns = cluster.devices[1].known_ns = 10 * MS;
	cluster.jobs[1].deadline_ns = S;
	for (unsigned i = 0; i < 2; i++) {
		cluster.jobs[i].ready = 1;
		cluster.ops->ready(cluster.policy, &cluster.jobs[i]);
	}
	assert_true(cluster.ops->choose(cluster.policy, &cluster.view, &choice));
	assert_ptr_equal(choice.job, &cluster.jobs[1]);
	assert_ptr_equal(choice.device, &cluster.devices[1].policy);
	end(&cluster);
}

static void test_deadline_refuses_what_cannot_be_met(void **state)
{
	struct cluster cluster;
	struct dls_error error;

	(void)state;
	begin(&cluster, "deadline", 2);
	cluster.jobs[0].deadline_ns = S;
	assert_int_equal(cluster.ops->admit(cluster.policy, &cluster.view, &cluster.jobs[0], 1000000, &error), 0);
	for (unsigned i = 0; i < 2; i++)
		cluster.devices[i].known_ns = 10 * MS;
	assert_int_equal(cluster.ops->admit(cluster.policy, &cluster.view, &cluster.jobs[0], 199, &error), 0);
	assert_int_equal(
		cluster.ops->admit(cluster.policy, &cluster.view, &cluster.jobs[0], 201, &error), DLS_EEXPIRED);
	assert_non_null(strstr(error.text, "deadline"));
	cluster.jobs[0].deadline_ns = 5 * MS; /* less than one item takes */
	assert_int_equal(cluster.ops->admit(cluster.policy, &cluster.view, &cluster.jobs[0], 1, &error), DLS_EEXPIRED);
	end(&cluster);
}

/* What a choice of ddrf uses. */
static void occupy(struct cluster *cluster, const struct dlsi_policy_choice *choice)
{
	struct device *device = device_of(choice->device);
	uint64_t tenant = choice->job->queue->tenant->number;

	device->policy.held++;
	dlsi_resources_add(&device->used[tenant], &choice->job->queue->class->demand);
	dlsi_resources_add(&cluster->tenants[tenant].used, &choice->job->queue->class->demand);
}

/* Two workers of 4 cores, and a tenant's task takes one: on each worker both tenants get two, though one tenant came
 * first. */
static void test_ddrf_shares_each_worker(void **state)
{
	struct dlsi_policy_choice choice;
	struct cluster cluster;

	(void)state;
	begin(&cluster, "ddrf", 2);
	cluster.each.amount[DLSI_RESOURCE_CORES] = 4;
	cluster.total.amount[DLSI_RESOURCE_CORES] = 8;
	for (unsigned i = 0; i < 2; i++) {
		cluster.classes[i].demand.amount[DLSI_RESOURCE_CORES] = 2;
		cluster.ops->ready(cluster.policy, &cluster.jobs[i]);
	}
	while (cluster.ops->choose(cluster.policy, &cluster.view, &choice))
		occupy(&cluster, &choice);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned tenant = 0; tenant < 2; tenant++)
			assert_int_equal(cluster.devices[i].used[tenant].amount[DLSI_RESOURCE_CORES], 2);
	end(&cluster);
}

/* With three times the weight a tenant ends with three times the tasks. */
static void test_ddrf_weighs_tenants(void **state)
{
	struct dlsi_policy_choice choice;
	struct cluster cluster;

	(void)state;
	begin(&cluster, "ddrf", DEVICES);
	cluster.each.amount[DLSI_RESOURCE_CORES] = 2; /* a device holds two of these */
	cluster.total.amount[DLSI_RESOURCE_CORES] = 2 * DEVICES;
	cluster.tenants[1].weight = 3;
	for (unsigned i = 0; i < 2; i++) {
		cluster.classes[i].demand.amount[DLSI_RESOURCE_CORES] = 1;
		cluster.ops->ready(cluster.policy, &cluster.jobs[i]);
	}
	while (cluster.ops->choose(cluster.policy, &cluster.view, &choice))
		occupy(&cluster, &choice);
	assert_int_equal(cluster.tenants[0].used.amount[DLSI_RESOURCE_CORES] +
				 cluster.tenants[1].used.amount[DLSI_RESOURCE_CORES],
		2 * DEVICES);
	assert_true(cluster.tenants[1].used.amount[DLSI_RESOURCE_CORES] >= DEVICES);
	end(&cluster);
}

/* Devices are asked for by those only who could come before who is best so far: with thousands of tenants most cannot.
 */
static void test_ddrf_asks_for_devices_only_where_it_matters(void **state)
{
	struct dlsi_policy_choice choice;
	struct cluster cluster;

	(void)state;
	begin(&cluster, "ddrf", DEVICES);
	cluster.each.amount[DLSI_RESOURCE_CORES] = 2;
	cluster.total.amount[DLSI_RESOURCE_CORES] = 2 * DEVICES;
	cluster.tenants[1].used.amount[DLSI_RESOURCE_CORES] = 1;
	for (unsigned i = 0; i < 2; i++)
		cluster.ops->ready(cluster.policy, &cluster.jobs[i]);
	assert_true(cluster.ops->choose(cluster.policy, &cluster.view, &choice));
	assert_ptr_equal(choice.job, &cluster.jobs[0]);
	assert_int_equal(cluster.asked, 1);
	end(&cluster);
}

UNIT_MAIN(test_feedback_comes_near_the_optimum, test_feedback_leaves_slow_devices_alone_at_the_end,
	test_feedback_uses_all_devices_for_few_items, test_feedback_tries_the_unknown_once,
	test_deadline_serves_the_most_urgent, test_deadline_refuses_what_cannot_be_met, test_ddrf_shares_each_worker,
	test_ddrf_weighs_tenants, test_ddrf_asks_for_devices_only_where_it_matters)
