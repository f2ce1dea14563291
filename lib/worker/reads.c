#include "worker/reads.h"

#include "base/limits.h"
#include "worker/worker.h"

struct read {
	struct dlsi_pending_fetch fetch; /* first */
	struct dlsi_list node;           /* on reads->list */
	struct dlsi_worker_reads *reads;
	uint32_t number;
};

static bool have_all(const struct dlsi_worker_reads *reads)
{
	return reads->next == reads->inputs->read_count && !reads->under_way;
}

/* A read has ended. */
static void take(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct read *read = (struct read *)fetch;
	struct dlsi_worker_reads *reads = read->reads;
	struct dls_worker *worker = reads->job->worker;

	(void)now_ns;
	if (fetch->err.code)
		dlsi_task_inputs_fail(reads->inputs, read->number, &fetch->err);
	else
		dlsi_task_inputs_fill(reads->inputs, read->number, fetch->frame);
	dlsi_list_remove(&read->node);
	dlsi_free(&worker->ctx->alloc, read);
	reads->under_way--;
	worker->reads--;
	if (have_all(reads)) /* before turns are given: one of them may be its own, and bring it to its end */
		reads->waiter->look(reads->waiter);
	while (worker->reads < DLSI_FETCHES_AT_ONCE && !dlsi_list_empty(&worker->readers))
		dlsi_waiters_wake_first(&worker->readers);
}

static void begin(struct dlsi_worker_reads *reads, uint32_t number)
{
	struct dls_worker *worker = reads->job->worker;
	const struct dlsi_task_read *wanted = &reads->inputs->reads[number];
	struct read *read = dlsi_calloc(&worker->ctx->alloc, 1, sizeof *read);
	struct dlsi_fetch fetch = dlsi_worker_job_fetch(reads->job);
	struct dls_error err;

	if (!read) {
		dlsi_fail_memory(&err);
		dlsi_task_inputs_fail(reads->inputs, number, &err);
		return;
	}
	fetch.blob = wanted->blob;
	fetch.offset = wanted->offset;
	fetch.length = wanted->length;
	read->reads = reads;
	read->number = number;
	dlsi_list_append(&reads->list, &read->node);
	reads->under_way++;
	worker->reads++;
	dlsi_fetch_begin(&worker->dialer, &read->fetch, &fetch, &reads->job->id, take);
}

bool dlsi_worker_reads_get(struct dlsi_worker_reads *reads)
{
	struct dls_worker *worker = reads->job->worker;
	const struct dlsi_task_inputs *inputs = reads->inputs;

	for (; reads->next < inputs->read_count; reads->next++) {
		if (inputs->reads[reads->next].code) /* it has failed already, and needs no turn */
			continue;
		if (worker->reads >= DLSI_FETCHES_AT_ONCE)
			break;
		begin(reads, reads->next);
	}
	if (reads->next < inputs->read_count)
		dlsi_list_append(&worker->readers, &reads->turn.node);
	return have_all(reads);
}

/* Others left room for more. */
static void take_turn(struct dlsi_waiter *turn)
{
	struct dlsi_worker_reads *reads = dlsi_list_entry(turn, struct dlsi_worker_reads, turn);

	if (dlsi_worker_reads_get(reads))
		reads->waiter->look(reads->waiter);
}

void dlsi_worker_reads_init(struct dlsi_worker_reads *reads, struct dlsi_worker_job *job,
	struct dlsi_task_inputs *inputs, struct dlsi_waiter *waiter)
{
	*reads = (struct dlsi_worker_reads){.job = job, .inputs = inputs, .waiter = waiter};
	dlsi_waiter_init(&reads->turn, take_turn);
	dlsi_list_init(&reads->list);
}

void dlsi_worker_reads_cancel(struct dlsi_worker_reads *reads)
{
	dlsi_list_remove(&reads->turn.node);
	reads->next = reads->inputs->read_count;
	dlsi_list_each (node, &reads->list)
		dlsi_fetch_cancel(&dlsi_list_entry(node, struct read, node)->fetch);
}
