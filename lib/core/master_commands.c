#include "core/master_commands.h"

#include "base/limits.h"
#include <string.h>

enum { MEMBERS = 8, ENTRY_BYTES = 512 }; /* of a list's entry, without its texts */

/* The members that a command takes besides "command". */
struct command {
	const char *name;
	const char *members[MEMBERS];
	int (*carry_out)(struct request *request);
};

static const struct command commands[] = {
	{"status", {NULL}, dlsi_command_status},
	{"workers", {"after", "limit"}, dlsi_command_workers},
	{"jobs", {"state", "tenant", "name", "tag", "after", "limit"}, dlsi_command_jobs},
	{"changes", {"after", "limit"}, dlsi_command_changes},
	{"job", {"job", "limit"}, dlsi_command_job},
	{"explain", {"job"}, dlsi_command_explain},
	{"drain", {"worker"}, dlsi_command_drain},
	{"undrain", {"worker"}, dlsi_command_undrain},
	{"cancel", {"jobs"}, dlsi_command_cancel},
	{"pause", {"jobs"}, dlsi_command_pause},
	{"resume", {"jobs"}, dlsi_command_resume},
	{"priority", {"jobs", "priority"}, dlsi_command_priority},
	{"forget", {"jobs"}, dlsi_command_forget},
	{"policy", {"name", "params"}, dlsi_command_policy},
	{"tenant", {"name", "weight", "quota"}, dlsi_command_tenant},
	{"tenants", {"name", "after", "limit"}, dlsi_command_tenants},
	{"speculation", {"params"}, dlsi_command_speculation},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

bool dlsi_request_has_room(struct request *request, size_t texts)
{
	size_t bytes = ENTRY_BYTES + 6 * texts; /* the longest escape of a byte */

	if (request->room < bytes)
		return false;
	request->room -= bytes;
	return true;
}

unsigned dlsi_request_limit(struct request *request)
{
	int64_t limit = dlsi_json_integer(&request->reader, "limit", DLSI_LISTED, 1, INT32_MAX);

	return limit < DLSI_LISTED ? (unsigned)limit : DLSI_LISTED;
}

static const struct command *find_command(const cJSON *json, struct dls_error *err)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(json, "command");
	const char *name = cJSON_GetStringValue(member), *names[COMMANDS + 1] = {NULL};

	for (size_t i = 0; i < COMMANDS; i++) {
		if (name && strcmp(commands[i].name, name) == 0)
			return &commands[i];
		names[i] = commands[i].name;
	}
	if (name)
		dlsi_fail(err, DLS_EINVAL, "there is no command \"%.64s\"; did you mean \"%s\"?", name,
			dlsi_json_nearest(name, names));
	else
		dlsi_fail(err, DLS_EINVAL, "the command does not say which: \"command\" is missing or no text");
	return NULL;
}

static int carry_out(struct request *request, const struct command *command, const cJSON *json)
{
	const char *known[MEMBERS + 2] = {"command"};

	for (int i = 0; i < MEMBERS && command->members[i]; i++)
		known[i + 1] = command->members[i];
	request->reader = dlsi_json_read(json, "the command", known, request->err);
	return request->reader.rc ? request->reader.rc : command->carry_out(request);
}

/* The answer as text, to be freed; NULL and an error. */
static char *print(const struct request *request)
{
	char *text = request->answer ? dlsi_json_print(request->master->alloc, request->answer) : NULL;

	if (!text) {
		dlsi_fail_memory(request->err);
	} else if (strlen(text) > DLSI_COMMAND_BYTES) {
		dlsi_free(request->master->alloc, text);
		text = NULL;
		dlsi_fail(request->err, DLS_ELIMIT, "the answer is too long; ask for less of it with \"limit\"");
	}
	return text;
}

static char *answer(
	struct dlsi_master *master, struct client *client, struct dlsi_bytes question, struct dls_error *err)
{
	struct request request = {.master = master, .client = client, .room = DLSI_COMMAND_BYTES / 4 * 3, .err = err};
	const struct command *command;
	char *text = NULL;
	cJSON *json;

	if (client->answers++ >= DLSI_ANSWERS_PER_TURN || client->answer_bytes >= DLSI_ANSWERED_BYTES) {
		dlsi_fail(err, DLS_EBUSY, "too many commands at once; ask again");
		return NULL;
	}
	if (dlsi_json_parse("the command", question.data, question.length, DLSI_COMMAND_BYTES, &json, err))
		return NULL;
	command = find_command(json, err);
	request.answer = cJSON_CreateObject();
	if (command && carry_out(&request, command, json) == 0)
		text = print(&request);
	cJSON_Delete(request.answer);
	cJSON_Delete(json);
	return text;
}

void dlsi_master_answer(struct dlsi_master *master, struct client *client, const struct dlsi_command *command)
{
	struct dlsi_record record = {.kind = DLSI_REPLY};
	struct dls_error error = {0};
	char *text = answer(master, client, command->json, &error);
	struct dlsi_text reply = dlsi_text_of(text ? text : error.text);

	client->answer_bytes += reply.length;
	record.reply.number = command->number;
	record.reply.code = error.code;
	record.reply.json = (struct dlsi_bytes){(const uint8_t *)reply.data, reply.length};
	dlsi_master_post(master, client->peer, &record, (struct dlsi_payload){0});
	dlsi_free(master->alloc, text);
}
