#include "master/durable.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/random.h"
#include "master/master.h"
#include "policy/roundrobin.h"

static int begin(void *arg, const struct dlsi_id *cluster, uint64_t term, struct dls_error *err)
{
	struct dls_master *master = arg;

	master->config.cluster = *cluster;
	master->config.term = term;
	master->config.durable = true;
	master->config.seed = dlsi_random_u64();
	return dlsi_master_create(&master->driver.ctx->alloc, &master->config, &master->core, err);
}

static int keep_payload(
	struct dls_master *master, const struct dlsi_group_record *record, struct dlsi_payload *payload_out)
{
	struct dlsi_frame *frame;

	if (!record->payload)
		return 0;
	frame = dlsi_frame_copy(&master->driver.ctx->alloc, record->payload, record->payload_length);
	if (!frame)
		return DLS_ENOMEM;
	if (dlsi_payloads_add(&master->driver.payloads, frame, payload_out)) {
		dlsi_frame_unref(frame);
		return DLS_ENOMEM;
	}
	return 0;
}

static int replay(void *arg, const struct dlsi_group_record *record, struct dls_error *err)
{
	struct dls_master *master = arg;
	struct dlsi_payload payload = {0};
	int rc;

	if (keep_payload(master, record, &payload))
		return dlsi_fail_memory(err);
	rc = dlsi_master_replay(master->core, ++master->durable.committed, record->bytes, record->length, payload,
		&master->driver.effects, err);
	dlsi_effects_clear(&master->driver.effects); /* lines for an operator who was told at that time */
	return rc;
}

static void wake(void *arg)
{
	struct dls_master *master = arg;

	dlsi_loop_post(master->driver.ctx->loop, &master->durable.errand);
}

static void committed(void *arg, uint64_t count)
{
	struct dls_master *master = arg;
	struct dlsi_event event = {.kind = DLSI_EVENT_PERSISTED};

	master->durable.committed += count;
	event.persisted.index = master->durable.committed;
	dlsi_driver_step(&master->driver, dlsi_clock_monotonic_ns(), &event);
}

/* The core is told when the log gets into trouble, and when that is over. */
static void tell_trouble(struct dls_master *master, int64_t now_ns)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_LOG_STATE};
	int code = dlsi_group_trouble(master->durable.group, &event.log_state);

	if (code == master->durable.trouble)
		return;
	master->durable.trouble = code;
	if (code)
		dlsi_ctx_log(master->driver.ctx, DLS_LOG_ERROR, "master: %s; no detached job is taken",
			event.log_state.text);
	else
		dlsi_ctx_log(master->driver.ctx, DLS_LOG_WARNING,
			"master: its log can be written again; detached jobs are taken");
	dlsi_driver_step(&master->driver, now_ns, &event);
}

static void run(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dls_master *master = ((struct dlsi_durable *)errand)->master;

	if (master->durable.closing || !master->durable.group)
		return;
	if (dlsi_group_step(master->durable.group)) {
		master->driver.failure = DLS_ENOMEM;
		dlsi_driver_step(&master->driver, now_ns, &(struct dlsi_event){.kind = DLSI_EVENT_TURN});
		return;
	}
	tell_trouble(master, now_ns);
}

int dlsi_durable_open(struct dls_master *master, const char *folder, struct dls_error *err)
{
	struct dlsi_group_config config = {
		.folder = folder,
		.log_bytes = DLSI_LOG_DISK_BYTES,
		.begin = begin,
		.replay = replay,
		.wake = wake,
		.committed = committed,
		.arg = master,
	};

	master->durable = (struct dlsi_durable){.errand.run = run, .master = master};
	return dlsi_group_open(&master->driver.ctx->alloc, &config, &master->durable.group, err);
}

int dlsi_durable_append(struct dls_master *master, const struct dlsi_effect *effect)
{
	const struct dlsi_driver *driver = &master->driver;
	struct dlsi_frame *frame = NULL;
	struct dlsi_group_record record = {
		.bytes = driver->effects.arena.data + effect->block, .length = effect->block_length};

	if (effect->payload.handle)
		frame = dlsi_payloads_get(&driver->payloads, effect->payload.handle);
	if (frame) {
		record.payload = dlsi_frame_data(frame);
		record.payload_length = dlsi_frame_size(frame);
	}
	if (dlsi_group_propose(master->durable.group, &record))
		return DLS_ENOMEM;
	dlsi_loop_post(driver->ctx->loop, &master->durable.errand);
	return 0;
}

/* What the core has proposed last goes to the log too; the driver is not there any more to hear of it. */
static int begin_closing(void *arg, int64_t now_ns)
{
	struct dls_master *master = arg;

	(void)now_ns;
	(void)dlsi_group_step(master->durable.group);
	master->durable.closing = true;
	return 0;
}

static int nothing(void *arg, int64_t now_ns)
{
	(void)arg;
	(void)now_ns;
	return 0;
}

void dlsi_durable_close(struct dls_master *master)
{
	struct dlsi_loop *loop = master->driver.ctx->loop;

	if (!master->durable.group)
		return;
	dlsi_loop_call(loop, begin_closing, master);
	dlsi_group_close(master->durable.group);
	dlsi_loop_call(loop, nothing, NULL); /* the errand may have been posted meanwhile */
	master->durable.group = NULL;
}

void dlsi_durable_abandon(struct dls_master *master)
{
	dlsi_group_close(master->durable.group);
	master->durable.group = NULL;
}

/* A core that is filled to see whether that is possible. */
struct inspection {
	const struct dlsi_alloc *alloc;
	struct dlsi_master *core;
	struct dlsi_effects effects;
	uint64_t records;
};

static int begin_inspection(void *arg, const struct dlsi_id *cluster, uint64_t term, struct dls_error *err)
{
	struct inspection *inspection = arg;
	struct dlsi_master_config config = {
		.cluster = *cluster,
		.term = term,
		.seed = dlsi_random_u64(),
		.heartbeat_ns = DLSI_SECOND_NS,
		.worker_timeout_ns = 3 * DLSI_SECOND_NS,
		.durable = true,
		.policy = &dlsi_policy_roundrobin,
	};

	return dlsi_master_create(inspection->alloc, &config, &inspection->core, err);
}

static int replay_inspection(void *arg, const struct dlsi_group_record *record, struct dls_error *err)
{
	struct inspection *inspection = arg;
	uint64_t index = ++inspection->records;
	struct dlsi_payload payload = {record->payload ? index : 0, record->payload_length};
	int rc = dlsi_master_replay(
		inspection->core, index, record->bytes, record->length, payload, &inspection->effects, err);

	dlsi_effects_clear(&inspection->effects);
	return rc;
}

int dlsi_durable_inspect(
	const struct dlsi_alloc *alloc, const char *folder, struct dls_master_data *data_out, struct dls_error *err)
{
	struct inspection inspection = {.alloc = alloc};
	struct dlsi_group_config config = {
		.folder = folder, .begin = begin_inspection, .replay = replay_inspection, .arg = &inspection};
	struct dlsi_group_facts facts;
	struct dlsi_master_counts counts;
	int rc;

	dlsi_effects_init(&inspection.effects, alloc);
	rc = dlsi_group_check(alloc, &config, &facts, err);
	if (rc == 0) {
		counts = dlsi_master_counts(inspection.core);
		*data_out = (struct dls_master_data){
			.size = sizeof *data_out,
			.term = facts.term,
			.entries = facts.entries,
			.files = facts.segments,
			.bytes = facts.bytes,
			.torn_bytes = facts.torn_bytes,
			.jobs = counts.jobs,
			.unfinished_jobs = dlsi_master_live_jobs(inspection.core),
			.results = counts.kept_results,
		};
		dlsi_hex(facts.cluster.bytes, DLSI_ID_BYTES, data_out->cluster);
	}
	dlsi_master_destroy(inspection.core, NULL);
	dlsi_effects_fini(&inspection.effects);
	return rc;
}
