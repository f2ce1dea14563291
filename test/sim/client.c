/* The simulated client's particulars: a program that submits jobs, takes results in order at its own pace, and
 * sometimes cancels. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sim_job *find(struct sim *sim, struct sim_node *node, const struct dlsi_id *id)
{
	for (unsigned i = 0; i < node->job_count; i++)
		if (dlsi_id_equal(&node->jobs[i].id, id))
			return &node->jobs[i];
	sim_fail(sim, "a client hears of a job that is not its own");
}

const struct sim_spec sim_specs[SIM_SPECS] = {
	{"{\"handler\":\"work\"}", 0, 0, false, 0, false},
	{"{\"handler\":\"work\",\"resources\":{\"cores\":1},\"speculate\":false}", 1, 0, false, 0, false},
	{"{\"handler\":\"work\",\"resources\":{\"cores\":2,\"gpu\":1}}", 2, 1, false, 0, false},
	{"{\"handler\":\"work\",\"resources\":{\"cores\":2},\"labels\":[\"fast\"]}", 2, 0, true, 0, false},
	{"{\"handler\":\"work\",\"retry\":{\"error\":{\"times\":2,\"wait_ms\":20}}}", 0, 0, false, 2, false},
	{"{\"model\":{\"bundle\":\"one\"}}", 0, 0, false, 0, true},
};

struct sim_job *sim_client_job(const struct sim *sim, const struct dlsi_id *id)
{
	for (unsigned i = 0; i < sim->client_count; i++)
		for (unsigned j = 0; j < sim->clients[i].job_count; j++)
			if (dlsi_id_equal(&sim->clients[i].jobs[j].id, id))
				return &sim->clients[i].jobs[j];
	return NULL;
}

static void submit(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *node = happening->at;
	struct sim_job *job = find(sim, node, &happening->job);
	const char *spec = sim_specs[job->spec].json;
	struct dlsi_event event = {.kind = DLSI_EVENT_SUBMIT, .job = job->id};

	job->submitted = true;
	event.submit.token = job->token;
	event.submit.spec = (struct dlsi_bytes){(const uint8_t *)spec, (uint32_t)strlen(spec)};
	event.submit.count = job->count;
	event.submit.durable = job->durable;
	event.submit.manifest = sim_payload_add(sim, node, (struct sim_content){.job = job->id, .bytes = 100});
	event.submit.window_items = job->window;
	event.submit.window_bytes = job->window_bytes;
	sim_node_step(sim, node, &event);
}

/* The pages whose items all come before `next` have been taken. */
static void drop_pages(struct sim_job *job, uint64_t next)
{
	struct dlsi_heap_node *first;

	while ((first = dlsi_heap_first(&job->pages)) && (uint64_t)dlsi_heap_due(&job->pages, first) <= next) {
		struct sim_page *page = dlsi_list_entry(first, struct sim_page, node);

		dlsi_heap_remove(&job->pages, first);
		job->waiting -= page->bytes;
		free(page);
	}
}

static void add_page(struct sim_job *job, uint64_t end, uint64_t bytes)
{
	struct sim_page *page = sim_calloc(sizeof *page);

	page->bytes = bytes;
	page->node.order = end;
	if (dlsi_heap_set(&job->pages, &page->node, (int64_t)end))
		abort();
	job->waiting += bytes;
}

static bool has_received(const struct sim_job *job, uint64_t item)
{
	return job->received[item / 8] >> item % 8 & 1;
}

static void draw(struct sim *sim, struct dlsi_id *id_out)
{
	for (int i = 0; i < DLSI_ID_BYTES; i++)
		id_out->bytes[i] = (uint8_t)dlsi_rng_next(&sim->rng);
}

/* Another job under the key of one that the program is done with, and perhaps nobody else yet. */
static void submit_another(struct sim *sim, struct sim_happening *happening)
{
	struct sim_job *job = find(sim, happening->at, &happening->job);

	if (!job->ended || job->durable)
		return;
	draw(sim, &job->token);
	job->submission++;
	job->ended = job->cancelled = job->stopped = false;
	drop_pages(job, INT64_MAX);
	job->next = job->delivered = job->waiting = job->fetching = 0;
	memset(job->received, 0, job->count / 8 + 1);
	memset(job->failures, 0, job->count);
	submit(sim, happening);
}

static void cancel(struct sim *sim, struct sim_happening *happening)
{
	struct sim_job *job = find(sim, happening->at, &happening->job);
	struct dlsi_event event = {.kind = DLSI_EVENT_CANCEL, .job = job->id};

	if (!job->submitted || job->ended)
		return;
	job->cancelled = true;
	sim_node_step(sim, happening->at, &event);
	for (uint64_t more = sim_below(sim, 3); more; more--)
		sim_schedule(sim, (int64_t)sim_below(sim, 5 * SIM_MS), happening->at, submit_another)->job = job->id;
}

static void set_job(struct sim *sim, struct sim_node *node, const struct sim_job *job, int64_t begins_ns)
{
	struct sim_job *place = &node->jobs[node->job_count++];

	*place = *job;
	draw(sim, &place->id);
	draw(sim, &place->token);
	place->received = sim_calloc(place->count / 8 + 1);
	place->failures = sim_calloc(sim->plan ? 1 : place->count);
	dlsi_heap_init(&place->pages, &dlsi_alloc_libc);
	sim_schedule(sim, begins_ns, node, submit)->job = place->id;
}

static void draw_job(struct sim *sim, struct sim_node *node)
{
	int64_t begins_ns = (int64_t)sim_below(sim, 4 * SIM_S);
	struct sim_job job = {
		.spec = (unsigned)sim_below(sim, SIM_SPECS),
		.count = 1 + sim_below(sim, sim_chance(sim, 20) ? 2000 : 100),
		.window = 4 + sim_below(sim, 200),
		.window_bytes = 1 + sim_below(sim, sim_chance(sim, 50) ? 1 << 20 : 1 << 16),
		.durable = sim->keeps_log && sim_chance(sim, 30),
	};

	set_job(sim, node, &job, begins_ns);
	if (sim_chance(sim, 10))
		sim_schedule(sim, begins_ns + (int64_t)sim_below(sim, 2 * SIM_S), node, cancel)->job =
			node->jobs[node->job_count - 1].id;
}

/* All that a program does: jobs and commands. */
static void draw_program(struct sim *sim, struct sim_node *node)
{
	unsigned jobs = 1 + (unsigned)sim_below(sim, SIM_JOBS);

	while (node->job_count < jobs)
		draw_job(sim, node);
	for (uint64_t commands = sim_below(sim, 10); commands; commands--)
		sim_schedule(sim, (int64_t)sim_below(sim, 8 * SIM_S), node, sim_command_ask)->number = commands;
}

void sim_client_clear(struct sim_node *node)
{
	for (unsigned i = 0; i < node->job_count; i++) {
		free(node->jobs[i].received);
		free(node->jobs[i].failures);
		drop_pages(&node->jobs[i], INT64_MAX);
		dlsi_heap_fini(&node->jobs[i].pages);
	}
	node->job_count = 0;
}

void sim_client_start(struct sim *sim, struct sim_node *node)
{
	static const char *const tenants[] = {"first", "second"};
	struct dlsi_session_config config = {
		.tenant = tenants[sim->plan ? 0 : sim_below(sim, 2)], .host = "host", .data_endpoint = ""};
	struct dls_error error;

	sim_client_clear(node);
	config.incarnation = node->incarnation;
	config.seed = dlsi_rng_next(&sim->rng);
	config.patience_ns = sim->plan || sim_chance(sim, 50) ? SIM_MS : 0;
	if (dlsi_session_create(&node->memory.alloc, &config, &node->session, &error))
		sim_fail(sim, "%s", error.text);
	node->asked = node->answered = 0;
	if (sim->plan)
		set_job(sim, node,
			&(struct sim_job){.spec = sim->plan->model_bytes ? SIM_SPEC_MODEL : 0,
				.count = sim->plan->items,
				.window = DLSI_WINDOW_ITEMS,
				.window_bytes = sim->plan->window_bytes},
			SIM_PLAN_BEGINS_NS);
	else if (!sim->settling)
		draw_program(sim, node);
}

static void take(struct sim *sim, struct sim_happening *happening)
{
	struct sim_job *job = find(sim, happening->at, &happening->job);
	struct dlsi_event event = {.kind = DLSI_EVENT_CONSUMED, .job = job->id};

	while (job->next < job->count && has_received(job, job->next))
		job->next++;
	drop_pages(job, job->next);
	event.consumed.next = job->next;
	event.consumed.bytes = job->waiting;
	sim_node_step(sim, happening->at, &event);
}

/* What is delivered as failed has failed as often as its job allows; but where memory is short it is not tried again.
 */
static void check_failure(struct sim *sim, const struct sim_job *job, uint64_t attempt, uint64_t item)
{
	unsigned retries = sim_specs[job->spec].retries;

	if (retries && sim_item_fails(sim, attempt, item) && job->failures[item] <= retries &&
		!sim->master.memory.has_failed)
		sim_fail(sim, "item %" PRIu64 " is delivered as failed after %u failures", item, job->failures[item]);
}

static void deliver(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct sim_job *job = find(sim, node, &effect->job);
	const struct sim_content *content = sim_payload_get(sim, node, effect->payload.handle);

	if (!dlsi_id_equal(&content->job, &job->id) || content->first != effect->deliver.page_first ||
		content->end != effect->deliver.page_end || effect->first < content->first ||
		effect->end > content->end || effect->end > job->count)
		sim_fail(sim, "a client gets a page that is not what its record says");
	for (uint64_t item = effect->first; item < effect->end; item++) {
		if (has_received(job, item))
			sim_fail(sim, "item %" PRIu64 " is delivered twice", item);
		if ((job->durable ? effect->deliver.page_first : item) >= job->next + job->window)
			sim_fail(sim, "item %" PRIu64 " is beyond the window", item);
		check_failure(sim, job, content->attempt, item);
		job->received[item / 8] |= (uint8_t)(1 << item % 8);
		job->delivered++;
		sim->delivered++;
	}
	if (effect->deliver.bytes)
		add_page(job, effect->end, content->bytes);
	sim_schedule(sim, sim->plan ? 0 : (int64_t)sim_below(sim, 20 * SIM_MS), node, take)->job = job->id;
}

/* A result on its way from the worker that offers it. */
struct fetching {
	struct sim_transfer transfer; /* first */
	struct sim_content content;
	uint64_t life; /* of the client */
	unsigned submission;
};

static void fetched(struct sim *sim, struct sim_transfer *transfer)
{
	struct fetching *fetching = (struct fetching *)transfer;
	struct sim_node *node = transfer->to, *holder = transfer->from;
	struct dlsi_event event = {.kind = DLSI_EVENT_FETCHED, .attempt = fetching->content.attempt};

	if (node->up && node->life == fetching->life) {
		struct sim_job *job = find(sim, node, &fetching->content.job);

		if (fetching->submission == job->submission)
			job->fetching -= fetching->content.bytes;
		if (holder->up && sim_payload_offered(sim, holder, event.attempt))
			event.fetched.payload = sim_payload_add(sim, node, fetching->content);
		else
			event.fetched.code = DLS_ELOST;
		sim_node_step(sim, node, &event);
	}
	free(fetching);
}

static void fetch(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct dlsi_text holder = dlsi_effects_text(&node->effects, effect->fetch.holder, effect->fetch.holder_length);
	struct fetching *fetching = sim_calloc(sizeof *fetching);
	struct sim_job *job = find(sim, node, &effect->job);

	if (holder.length < 7 || memcmp(holder.data, "worker", 6) != 0)
		sim_fail(sim, "an offer does not say who holds it");
	if (effect->first > job->next && job->waiting + job->fetching >= job->window_bytes)
		sim_fail(sim, "a result is fetched although the window is full");
	job->fetching += effect->fetch.offer.length;
	fetching->life = node->life;
	fetching->submission = job->submission;
	fetching->content = (struct sim_content){
		effect->job, effect->attempt, effect->first, effect->end, effect->fetch.offer.length};
	fetching->transfer.from = &sim->workers[strtoul(holder.data + 6, NULL, 10)];
	fetching->transfer.to = node;
	fetching->transfer.bytes = effect->fetch.offer.length;
	fetching->transfer.arrived = fetched;
	sim_transfer_begin(sim, &fetching->transfer);
}

/* Where memory has been short a job may fail for it, and for nothing else. */
static bool lacks_memory(const struct sim *sim, const struct sim_node *node, int code)
{
	return (sim->master.memory.has_failed || node->memory.has_failed) && (code == DLS_EBUSY || code == DLS_ENOMEM);
}

static void ended(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	struct sim_job *job = find(sim, node, &effect->job);
	uint8_t state = effect->notify.state;

	if (job->ended)
		sim_fail(sim, "a job ends twice");
	job->ended = true;
	job->state = state;
	if (state == DLSI_JOB_DONE && job->delivered != job->count)
		sim_fail(sim, "a job is done with %" PRIu64 " of %" PRIu64 " items", job->delivered, job->count);
	if (state == DLSI_JOB_CANCELLED && job->stopped)
		return;
	if (state == DLSI_JOB_FAILED && job->durable && effect->notify.code == DLS_ELIMIT)
		return; /* a result was too large to be kept */
	if (state == DLSI_JOB_FAILED ? !lacks_memory(sim, node, effect->notify.code)
				     : state != (job->cancelled ? DLSI_JOB_CANCELLED : DLSI_JOB_DONE))
		sim_fail(sim, "a job ends as %u with code %d", state, effect->notify.code);
}

/* What is said to be done the client has, and nobody counts what is not there. */
static void progress(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	const struct sim_job *job = find(sim, node, &effect->job);

	if (effect->notify.done > job->count || effect->notify.running > job->count ||
		(!job->durable && effect->notify.done > job->delivered) || effect->notify.workers > sim->worker_count)
		sim_fail(sim,
			"a job of %" PRIu64 " items, %" PRIu64 " of them here, has %" PRIu64 " done, %" PRIu64
			" running at %" PRIu32 " workers",
			job->count, job->delivered, effect->notify.done, effect->notify.running,
			effect->notify.workers);
}

void sim_client_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	switch (effect->kind) {
	case DLSI_EFFECT_DELIVER:
		deliver(sim, node, effect);
		break;
	case DLSI_EFFECT_FETCH:
		fetch(sim, node, effect);
		break;
	case DLSI_EFFECT_NOTIFY:
		if (effect->notify.notice == DLSI_NOTICE_ENDED)
			ended(sim, node, effect);
		if (effect->notify.notice == DLSI_NOTICE_REPLY)
			sim_command_answered(sim, node, effect);
		if (effect->notify.notice == DLSI_NOTICE_PROGRESS)
			progress(sim, node, effect);
		if (effect->notify.notice == DLSI_NOTICE_REJECTED)
			sim_fail(sim, "a client was refused for good with code %d", effect->notify.code);
		break;
	default:
		sim_fail(sim, "a client asks for effect %d", (int)effect->kind);
	}
}
