/* What simulated clients ask and tell the master: about everything, while faults last, and at their end that whatever
 * is paused or drained goes on. */
#include "test/sim/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RESUME = 20, UNDRAIN, JSON_BYTES = 4096, AGAIN_NS = 200 * SIM_MS };

struct text {
	char at[JSON_BYTES];
	size_t length;
};

static void append(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text->length += (size_t)vsnprintf(text->at + text->length, sizeof text->at - text->length, format, arguments);
	va_end(arguments);
}

static void append_id(struct text *text, const struct dlsi_id *id)
{
	char digits[DLSI_ID_TEXT_BYTES];

	dlsi_hex(id->bytes, DLSI_ID_BYTES, digits);
	append(text, "\"%s\"", digits);
}

/* A job of any client, also of one that is away. */
static struct sim_job *any_job(struct sim *sim)
{
	struct sim_node *client = &sim->clients[sim_below(sim, sim->client_count)];

	return client->job_count ? &client->jobs[sim_below(sim, client->job_count)] : NULL;
}

/* Tells something about a job. Whoever cancels one must expect that its client hears of it. */
static void tell_of_job(struct sim *sim, struct text *text)
{
	static const char *const commands[] = {"pause", "resume", "priority", "cancel"};
	uint64_t command = sim_chance(sim, 20) ? 3 : sim_below(sim, 3);
	struct sim_job *job = any_job(sim);

	if (!job) {
		append(text, "{\"command\":\"jobs\"}");
		return;
	}
	job->stopped |= command == 3;
	if (command == 0 && sim->paused_count < SIM_PAUSED)
		sim->paused[sim->paused_count++] = job->id;
	append(text, "{\"command\":\"%s\",\"jobs\":[", commands[command]);
	append_id(text, &job->id);
	append(text, "]");
	if (command == 2)
		append(text, ",\"priority\":%d", (int)sim_below(sim, 9) - 4);
	append(text, "}");
}

static void ask_of_job(struct sim *sim, struct text *text)
{
	struct sim_job *job = any_job(sim);

	if (!job) {
		append(text, "{\"command\":\"changes\",\"after\":\"0\"}");
		return;
	}
	append(text, "{\"command\":\"%s\",\"job\":", sim_chance(sim, 50) ? "explain" : "job");
	append_id(text, &job->id);
	append(text, "}");
}

static void draw_command(struct sim *sim, struct text *text)
{
	static const char *const policies[] = {
		"{\"command\":\"policy\",\"name\":\"roundrobin\"}",
		"{\"command\":\"policy\",\"name\":\"leastloaded\"}",
		"{\"command\":\"policy\",\"name\":\"priority\",\"params\":{\"ageing_ms\":100}}",
		"{\"command\":\"policy\",\"name\":\"priority\",\"params\":{\"ageing_ms\":0,\"preempt\":true}}",
		"{\"command\":\"policy\",\"name\":\"feedback\"}",
		"{\"command\":\"policy\",\"name\":\"deadline\"}",
		"{\"command\":\"policy\",\"name\":\"drf\"}",
		"{\"command\":\"policy\",\"name\":\"ddrf\"}",
		"{\"command\":\"tenant\",\"name\":\"first\",\"weight\":3}",
		"{\"command\":\"speculation\",\"params\":{\"percent\":100,\"quantile\":0.5,\"factor\":1,\"least_ms\":1}"
		"}",
		"{\"command\":\"speculation\",\"params\":{\"percent\":100,\"quantile\":0.5,\"factor\":1,\"least_ms\":"
		"20}}",
		"{\"command\":\"speculation\",\"params\":{\"percent\":0}}",
	};
	uint64_t dice = sim->faults ? sim_below(sim, 100) : 0;

	if (dice < 20)
		append(text, "{\"command\":\"%s\"}", dice < 10 ? "status" : "workers");
	else if (dice < 30)
		append(text, "{\"command\":\"jobs\",\"state\":\"all\"}");
	else if (dice < 45)
		ask_of_job(sim, text);
	else if (dice < 65)
		tell_of_job(sim, text);
	else if (dice < 75)
		append(text, "%s", policies[sim_below(sim, sizeof policies / sizeof *policies)]);
	else
		append(text, "{\"command\":\"%s\",\"worker\":\"worker%u\"}", sim_chance(sim, 70) ? "drain" : "undrain",
			(unsigned)sim_below(sim, sim->worker_count));
}

static void write_resume(const struct sim *sim, struct text *text)
{
	append(text, "{\"command\":\"resume\",\"jobs\":[");
	for (unsigned i = 0; i < sim->paused_count; i++) {
		append(text, i ? "," : "");
		append_id(text, &sim->paused[i]);
	}
	append(text, "]}");
}

void sim_command_ask(struct sim *sim, struct sim_happening *happening)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_COMMAND};
	uint64_t number = happening->number;
	struct text text = {.length = 0};

	if (number == RESUME)
		write_resume(sim, &text);
	else if (number >= UNDRAIN)
		append(&text, "{\"command\":\"undrain\",\"worker\":\"worker%u\"}", (unsigned)(number - UNDRAIN));
	else
		draw_command(sim, &text);
	happening->at->asked |= UINT64_C(1) << (number - 1);
	event.command.number = number;
	event.command.json = (struct dlsi_bytes){(const uint8_t *)text.at, (uint32_t)text.length};
	sim_node_step(sim, happening->at, &event);
}

/* A refusal that a right command may meet with. */
static bool is_expected(int code)
{
	return code == DLS_EUNREACHABLE || code == DLS_ENOMEM || code == DLS_ENOTFOUND || code == DLS_ESTATE ||
	       code == DLS_EBUSY;
}

void sim_command_answered(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect)
{
	uint64_t number = effect->notify.number, bit = UINT64_C(1) << (number - 1);
	struct dlsi_text text = dlsi_effects_text(&node->effects, effect->notify.text, effect->notify.text_length);
	int code = effect->notify.code;

	if (!(node->asked & bit) || node->answered & bit)
		sim_fail(sim, "an answer to command %u that nobody waits for", (unsigned)number);
	if (code && !is_expected(code))
		sim_fail(sim, "a command is answered with code %d: %.*s", code, (int)text.length, text.data);
	if (number >= RESUME && (code == DLS_EUNREACHABLE || code == DLS_ENOMEM || code == DLS_EBUSY)) {
		node->asked &= ~bit;
		sim_schedule(sim, AGAIN_NS, node, sim_command_ask)->number = number;
	} else {
		node->answered |= bit;
	}
}

void sim_command_settle(struct sim *sim, struct sim_happening *happening)
{
	struct sim_node *node = NULL;

	(void)happening;
	sim->settling = true;
	for (unsigned i = 0; i < sim->client_count; i++)
		if (sim->clients[i].up)
			node = &sim->clients[i];
	if (!node) {
		node = &sim->clients[0];
		sim_node_start(sim, node);
	}
	if (sim->paused_count)
		sim_schedule(sim, 0, node, sim_command_ask)->number = RESUME;
	for (unsigned i = 0; i < sim->worker_count; i++)
		sim_schedule(sim, 0, node, sim_command_ask)->number = UNDRAIN + i;
}
