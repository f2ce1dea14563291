/* Commands: what clients ask the master or tell it to do, as JSON. One table names them all (master_commands.c); each
 * is carried out by one function, in the file of its subject, which reads the request's members and fills in the
 * answer.
 *
 * Whatever a command does takes a bounded time: a list has DLSI_LISTED entries at most and looks at DLSI_LOOKED_AT, and
 * says where the next page begins. */
#ifndef DLSI_MASTER_COMMANDS_H
#define DLSI_MASTER_COMMANDS_H

#include "base/json.h"
#include "core/master_state.h"

struct request {
	struct dlsi_master *master;
	struct client *client; /* who asks */
	struct dlsi_json_reader reader;
	cJSON *answer; /* an object */
	size_t room;   /* bytes that its lists may still take */
	struct dls_error *err;
};

/* Whether the list has room for an entry with texts of so many bytes; takes it. */
bool dlsi_request_has_room(struct request *request, size_t texts);

/* How many entries the list may have, as "limit" asks. */
unsigned dlsi_request_limit(struct request *request);

/* master_find.c: jobs as people name them, by their id or how it begins. Exactly one of both is found; else an error
 * whose sentence says why: DLS_EINVAL, DLS_ENOTFOUND, DLS_ELIMIT (too many would have to be looked at in this turn). */
struct found {
	struct job *job;
	const struct ended *ended;
};

int dlsi_find_job(struct dlsi_master *master, const char *text, struct found *found_out, struct dls_error *err);

/* master_describe.c: jobs and tasks as answers show them. NULL: memory is exhausted */
const char *dlsi_describe_state(const struct job *job);
size_t dlsi_describe_job_texts(const struct job *job);       /* bytes of texts in it */
size_t dlsi_describe_ended_texts(const struct ended *ended); /* the same */
cJSON *dlsi_describe_job(const struct dlsi_master *master, const struct job *job);
void dlsi_describe_traffic(const struct traffic *traffic, cJSON *json); /* adds it as "bytes" */
cJSON *dlsi_describe_ended(const struct dlsi_master *master, const struct ended *ended);
cJSON *dlsi_describe_task(const struct dlsi_master *master, const struct task *task);

/* master_about.c: as members of such an answer, and what they take; NULL: nothing is said */
size_t dlsi_about_texts(const struct about *about);
void dlsi_about_describe(const struct about *about, cJSON *json);

/* Whether it says this name and has this tag; NULL: any. */
bool dlsi_about_matches(const struct about *about, const char *name, const char *tag);

/* master_usage.c: as members of an answer */
void dlsi_tenant_describe(const struct dlsi_master *master, const struct tenant *tenant, cJSON *json);

/* The commands. 0, or an error whose sentence is the answer. */
int dlsi_command_status(struct request *request);  /* master_report.c */
int dlsi_command_workers(struct request *request); /* master_report.c */
int dlsi_command_jobs(struct request *request);    /* master_lists.c */
int dlsi_command_changes(struct request *request); /* master_changes.c */
int dlsi_command_job(struct request *request);     /* master_describe.c */
int dlsi_command_cancel(struct request *request);  /* master_control.c */
int dlsi_command_pause(struct request *request);
int dlsi_command_resume(struct request *request);
int dlsi_command_priority(struct request *request);
int dlsi_command_forget(struct request *request);
int dlsi_command_explain(struct request *request); /* master_explain.c */
int dlsi_command_drain(struct request *request);   /* master_drain.c */
int dlsi_command_undrain(struct request *request);
int dlsi_command_policy(struct request *request);      /* master_policy.c */
int dlsi_command_tenant(struct request *request);      /* master_tenants.c */
int dlsi_command_tenants(struct request *request);     /* master_usage.c */
int dlsi_command_speculation(struct request *request); /* master_stragglers.c */

#endif
