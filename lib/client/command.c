#include "client/command.h"

#include "base/clock.h"
#include "base/condition.h"
#include "client/client.h"
#include <string.h>

/* A thread that waits for the master's answer to a command. */
struct question {
	struct dlsi_list node; /* on client->questions until it is answered */
	struct dls_client *client;
	const char *json;
	uint64_t number;
	bool answered;
	int code;
	char *text; /* NULL: no memory */
};

static struct question *find_question(struct dls_client *client, uint64_t number)
{
	dlsi_list_each (node, &client->questions) {
		struct question *question = dlsi_list_entry(node, struct question, node);

		if (question->number == number)
			return question;
	}
	return NULL;
}

void dlsi_node_client_answer(struct dls_client *client, const struct dlsi_effect *effect, struct dlsi_text text)
{
	struct question *question;

	pthread_mutex_lock(&client->dialer.mutex);
	question = find_question(client, effect->notify.number);
	if (question) {
		question->answered = true;
		question->code = effect->notify.code;
		question->text = dlsi_strndup(&client->ctx->alloc, text.data, text.length);
		dlsi_list_remove(&question->node);
		pthread_cond_broadcast(&client->dialer.changed);
	}
	pthread_mutex_unlock(&client->dialer.mutex);
}

static int ask(void *arg, int64_t now_ns)
{
	struct question *question = arg;
	struct dlsi_event event = {.kind = DLSI_EVENT_COMMAND};

	event.command.number = question->number;
	event.command.json = (struct dlsi_bytes){(const uint8_t *)question->json, (uint32_t)strlen(question->json)};
	dlsi_driver_step(&question->client->dialer.driver, now_ns, &event);
	return 0;
}

/* Under the mutex: asks once over the connection there is. True when it was answered, false when the connection was
 * lost or the time is over. */
static bool ask_once(struct dls_client *client, struct question *question, int64_t until_ns)
{
	bool in_time = true;

	question->number = ++client->asked;
	dlsi_list_append(&client->questions, &question->node);
	pthread_mutex_unlock(&client->dialer.mutex);
	dlsi_loop_call(client->ctx->loop, ask, question);
	pthread_mutex_lock(&client->dialer.mutex);
	while (!question->answered && client->dialer.connected && in_time)
		in_time = dlsi_condition_wait(&client->dialer.changed, &client->dialer.mutex, until_ns);
	dlsi_list_remove(&question->node);
	if (question->answered && question->code == DLS_EUNREACHABLE) {
		dlsi_free(&client->ctx->alloc, question->text); /* the session's own: it was lost just now */
		question->answered = false;
	}
	return question->answered;
}

static int read_answer(struct dls_client *client, struct question *question, char **json_out, struct dls_error *err)
{
	int rc = 0;

	if (!question->text)
		return dlsi_fail_memory(err);
	if (question->code == 0) {
		*json_out = question->text;
	} else {
		rc = dlsi_fail(err, question->code, "%s", question->text);
		dlsi_free(&client->ctx->alloc, question->text);
	}
	return rc;
}

int dlsi_node_client_command(
	struct dls_client *client, const char *json, int timeout_ms, char **json_out, struct dls_error *err)
{
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	struct question question = {.client = client, .json = json};
	int rc;

	dlsi_list_init(&question.node);
	pthread_mutex_lock(&client->dialer.mutex);
	do
		rc = dlsi_dialer_wait(&client->dialer, until_ns, err);
	while (rc == 0 && !ask_once(client, &question, until_ns) && dlsi_clock_monotonic_ns() < until_ns);
	pthread_mutex_unlock(&client->dialer.mutex);
	if (rc)
		return rc;
	if (!question.answered)
		return dlsi_fail(err, DLS_ETIMEOUT, "the master at %s did not answer in time", client->dialer.master);
	return read_answer(client, &question, json_out, err);
}
