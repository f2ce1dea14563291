/* Models on their way to workers: who has one, who waits for it, and from whom each gets it.
 *
 * A model lies at the client of the job that names it. The client gives it away until two workers have it; then each
 * worker that has it gives it to one other at a time, so that their number doubles while one copy is made, and nobody's
 * link carries it more than once in that time. Who wants it waits here for its turn. Of those who can give it one on
 * the same machine is taken, else one that has given nothing away yet, else the fastest by what it has given away. Who
 * could not be read from is named no more until it says again that it has the model, and who has met two of those gets
 * it from the client at once. */
#include "core/master_places.h"

#include "base/json.h"
#include <string.h>

enum { ENOUGH_COPIES = 2, ENOUGH_FAILURES = 2, MIB = 1 << 20, WEIGHT = 4 };

/* A worker that has the model. */
struct copy {
	struct dlsi_list worker_node, model_node;
	struct worker *worker;
	struct model *model;
	struct load *load; /* that it serves, or NULL */
	uint64_t mib_ns;   /* that a MiB of it takes, on average; 0: not known yet */
};

enum load_state {
	WAITS,
	FROM_CLIENT,
	FROM_COPY,
	ADRIFT, /* its copy is gone; it finds that out by itself and asks again */
};

/* A worker that wants it. */
struct load {
	struct dlsi_list worker_node, model_node;
	struct worker *worker;
	struct model *model;
	struct dlsi_id job;
	enum load_state state;
	struct copy *from; /* FROM_COPY */
	unsigned failures; /* of copies that it was to read */
};

struct model {
	struct dlsi_id key;
	uint64_t uses;        /* by specifications */
	struct dlsi_id token; /* under which workers give it to each other; zero: nobody has asked yet */
	struct dlsi_list copies, loads;
	unsigned copy_count, client_loads;
};

struct model *dlsi_model_ref(struct dlsi_master *master, const cJSON *json)
{
	const char *bundle = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "bundle"));
	struct dlsi_id key = dlsi_hash_key(bundle ? bundle : "", bundle ? strlen(bundle) : 0);
	struct model *model = dlsi_map_get(&master->model_by_key, &key);

	if (!model) {
		model = dlsi_calloc(master->alloc, 1, sizeof *model);
		if (!model || dlsi_map_put(&master->model_by_key, &key, model)) {
			dlsi_free(master->alloc, model);
			return NULL;
		}
		model->key = key;
		dlsi_list_init(&model->copies);
		dlsi_list_init(&model->loads);
	}
	model->uses++;
	return model;
}

static void end_load(struct dlsi_master *master, struct load *load)
{
	if (load->state == FROM_COPY)
		load->from->load = NULL;
	else if (load->state == FROM_CLIENT)
		load->model->client_loads--;
	dlsi_list_remove(&load->worker_node);
	dlsi_list_remove(&load->model_node);
	dlsi_free(master->alloc, load);
}

static void end_copy(struct dlsi_master *master, struct copy *copy)
{
	if (copy->load)
		copy->load->state = ADRIFT;
	copy->model->copy_count--;
	dlsi_list_remove(&copy->worker_node);
	dlsi_list_remove(&copy->model_node);
	dlsi_free(master->alloc, copy);
}

void dlsi_model_unref(struct dlsi_master *master, struct model *model)
{
	if (!model || --model->uses)
		return;
	dlsi_list_each (node, &model->loads)
		end_load(master, dlsi_list_entry(node, struct load, model_node));
	dlsi_list_each (node, &model->copies)
		end_copy(master, dlsi_list_entry(node, struct copy, model_node));
	dlsi_map_remove(&master->model_by_key, &model->key);
	dlsi_free(master->alloc, model);
}

/* ---- who gets it from whom */

static bool can_give(const struct copy *copy, const struct load *load)
{
	return !copy->load && copy->worker->peer && copy->worker != load->worker;
}

/* Whether `a` is to be taken rather than `b`. */
static bool is_better(const struct copy *a, const struct copy *b, const char *host)
{
	bool a_here = strcmp(a->worker->origin->host, host) == 0, b_here = strcmp(b->worker->origin->host, host) == 0;

	return a_here != b_here ? a_here : a->mib_ns < b->mib_ns;
}

static struct copy *choose(const struct load *load)
{
	const char *host = load->worker->origin->host;
	struct copy *best = NULL;

	dlsi_list_each (node, &load->model->copies) {
		struct copy *copy = dlsi_list_entry(node, struct copy, model_node);

		if (can_give(copy, load) && (!best || is_better(copy, best, host)))
			best = copy;
	}
	return best;
}

/* Names where to get it: a worker, or without one the client. */
static void answer(struct dlsi_master *master, struct worker *worker, const struct dlsi_id *job,
	const struct model *model, const struct copy *from)
{
	struct dlsi_record record = {.kind = DLSI_FOUND, .found = {.job = *job, .token = model->token}};

	if (from) {
		record.found.holder = dlsi_text_of(from->worker->origin->data_endpoint);
		record.found.holder_host = dlsi_text_of(from->worker->origin->host);
	}
	dlsi_master_post(master, worker->peer, &record, (struct dlsi_payload){0});
}

/* False: it has to wait. */
static bool begin(struct dlsi_master *master, struct load *load)
{
	struct model *model = load->model;
	bool has_tried = load->failures >= ENOUGH_FAILURES;

	load->from = has_tried ? NULL : choose(load);
	if (!load->from && !has_tried && (model->client_loads || model->copy_count >= ENOUGH_COPIES))
		return false;
	if (load->from)
		load->from->load = load;
	else
		model->client_loads++;
	load->state = load->from ? FROM_COPY : FROM_CLIENT;
	answer(master, load->worker, &load->job, model, load->from);
	return true;
}

/* Lets those begin whose turn it is. */
static void begin_all(struct dlsi_master *master, struct model *model)
{
	bool full = false;

	dlsi_list_each (node, &model->loads) {
		struct load *load = dlsi_list_entry(node, struct load, model_node);

		if (load->state != WAITS || !load->worker->peer || (full && load->failures < ENOUGH_FAILURES))
			continue;
		full |= !begin(master, load);
	}
}

/* ---- what workers say */

static struct load *find_load(const struct worker *worker, const struct dlsi_id *job)
{
	dlsi_list_each (node, &worker->loads) {
		struct load *load = dlsi_list_entry(node, struct load, worker_node);

		if (dlsi_id_equal(&load->job, job))
			return load;
	}
	return NULL;
}

static struct copy *find_copy(const struct worker *worker, const struct model *model)
{
	dlsi_list_each (node, &worker->copies) {
		struct copy *copy = dlsi_list_entry(node, struct copy, worker_node);

		if (copy->model == model)
			return copy;
	}
	return NULL;
}

static void add_load(struct dlsi_master *master, struct worker *worker, struct model *model, const struct dlsi_id *job,
	unsigned failures)
{
	struct load *load = dlsi_calloc(master->alloc, 1, sizeof *load);

	if (!load) {
		master->failed = true;
		return;
	}
	load->worker = worker;
	load->model = model;
	load->job = *job;
	load->failures = failures;
	dlsi_list_append(&worker->loads, &load->worker_node);
	dlsi_list_append(&model->loads, &load->model_node);
}

static void add_copy(struct dlsi_master *master, struct worker *worker, struct model *model)
{
	struct copy *copy = find_copy(worker, model) ? NULL : dlsi_calloc(master->alloc, 1, sizeof *copy);

	if (!copy) {
		master->failed |= !find_copy(worker, model);
		return;
	}
	copy->worker = worker;
	copy->model = model;
	model->copy_count++;
	dlsi_list_append(&worker->copies, &copy->worker_node);
	dlsi_list_append(&model->copies, &copy->model_node);
}

/* The worker's load is over, well or not. */
static void note_end(struct dlsi_master *master, struct load *load, const struct dlsi_seek *record)
{
	struct copy *from = load->state == FROM_COPY ? load->from : NULL;

	end_load(master, load);
	if (!from)
		return;
	if (record->state == DLSI_SEEK_WANTS) { /* it could not be read from there */
		end_copy(master, from);
	} else if (record->state == DLSI_SEEK_HAS && record->bytes >= MIB) {
		uint64_t mib_ns = record->elapsed_ns / (record->bytes / MIB);

		from->mib_ns = from->mib_ns ? (from->mib_ns * (WEIGHT - 1) + mib_ns) / WEIGHT : mib_ns;
	}
}

/* From a client's secret to one of the workers that were told of its job. */
static struct dlsi_id make_token(const struct job *job, const struct model *model)
{
	uint8_t secret[2 * DLSI_ID_BYTES];

	memcpy(secret, job->token.bytes, DLSI_ID_BYTES);
	memcpy(secret + DLSI_ID_BYTES, model->key.bytes, DLSI_ID_BYTES);
	return dlsi_hash_key(secret, sizeof secret);
}

static struct model *model_of(const struct dlsi_master *master, const struct worker *worker, const struct dlsi_id *id)
{
	struct job *job = dlsi_job_find(master, id);
	struct model *model;

	if (!job || !job->spec->model || !dlsi_master_acquainted(master, worker, job))
		return NULL;
	model = job->spec->model;
	if (dlsi_id_is_zero(&model->token))
		model->token = make_token(job, model);
	return model;
}

void dlsi_worker_seek(struct dlsi_master *master, struct worker *worker, const struct dlsi_seek *record)
{
	static const struct model unknown;
	struct load *load = find_load(worker, &record->job);
	struct model *model = load ? load->model : model_of(master, worker, &record->job);
	unsigned failures = load ? load->failures + 1 : 0;

	if (load)
		note_end(master, load, record);
	if (!model) { /* the job is over: whoever wants it still can ask its client alone */
		if (record->state == DLSI_SEEK_WANTS)
			answer(master, worker, &record->job, &unknown, NULL);
		return;
	}
	if (record->state == DLSI_SEEK_WANTS) {
		add_load(master, worker, model, &record->job, failures);
	} else if (record->state == DLSI_SEEK_HAS) {
		add_copy(master, worker, model);
		answer(master, worker, &record->job, model, NULL);
	}
	begin_all(master, model);
}

void dlsi_worker_forget_loads(struct dlsi_master *master, struct worker *worker)
{
	dlsi_list_each (node, &worker->loads) {
		struct load *load = dlsi_list_entry(node, struct load, worker_node);
		struct model *model = load->model;

		end_load(master, load);
		begin_all(master, model);
	}
}

void dlsi_worker_forget_models(struct dlsi_master *master, struct worker *worker)
{
	dlsi_worker_forget_loads(master, worker);
	dlsi_list_each (node, &worker->copies) {
		struct copy *copy = dlsi_list_entry(node, struct copy, worker_node);
		struct model *model = copy->model;

		end_copy(master, copy);
		begin_all(master, model);
	}
}
