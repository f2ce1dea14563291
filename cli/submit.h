/* dls-submit: the values of its options and its verbs. */
#ifndef DLSI_CLI_SUBMIT_H
#define DLSI_CLI_SUBMIT_H

#include "cli/options.h"
#include <dlsched/dlsched.h>
#include <stdbool.h>

struct submit_values {
	const char *master;
	const char *tenant;
	const char *data_bind;
	int insecure;
	int64_t connect_timeout_ms;

	int local;
	int detach;
	int64_t devices;
	int64_t threads;
	int64_t batch;
	int64_t runs;
	struct cli_texts expect;
	double rtol, atol, weight;
	const char *cache_dir;
	const char *job; /* file */
	const char *handler;
	const char *params;
	const char *script;
	const char *key;
	int64_t priority;
	int64_t task_items;
	const char *name;
	struct cli_texts tag;
	struct cli_texts label, prefer;
	struct cli_amounts resource;
	int64_t deadline_ms, time_limit_ms, item_time_limit_ms; /* 0: none */
	struct cli_texts retry;                                 /* as cli/retries.h reads them */
	struct cli_texts after;
	int after_when; /* index in submit_after_words */
	int no_speculation;
	int64_t timeout_ms; /* 0: none */
	int64_t top;
	const char *output;
	int progress; /* -1: on a terminal */
	int quiet;

	int state; /* index in submit_list_states */
	int64_t limit;
	int all;

	int log_level;
	int json;
};

/* What list can be asked for: words of the master's. */
extern const char *const submit_list_states[];

/* What a job can wait for. */
extern const char *const submit_after_words[];

/* What a verb gets. */
struct submit {
	const struct submit_values *values;
	struct dls_ctx *ctx;
	const char *const *operands;
	size_t operand_count;
	const struct cli_option *options; /* of which ... */
	uint64_t given;                   /* ... bit i says that number i stands on the command line */
	int signals; /* readable once SIGINT or SIGTERM has come; not for the model verbs, which these end at once */
};

/* Each returns the exit code, or -1 with a sentence in `err`, whose code decides. */
int submit_run(const struct submit *submit, struct dls_error *err);
int submit_status(const struct submit *submit, struct dls_error *err);
int submit_list(const struct submit *submit, struct dls_error *err);
int submit_watch(const struct submit *submit, struct dls_error *err);
int submit_explain(const struct submit *submit, struct dls_error *err);
int submit_node_list(const struct submit *submit, struct dls_error *err);
int submit_node_drain(const struct submit *submit, struct dls_error *err);
int submit_node_undrain(const struct submit *submit, struct dls_error *err);
int submit_policy_show(const struct submit *submit, struct dls_error *err);
int submit_policy_set(const struct submit *submit, struct dls_error *err);
int submit_tenant_set(const struct submit *submit, struct dls_error *err);
int submit_tenant_list(const struct submit *submit, struct dls_error *err);
int submit_tenant_show(const struct submit *submit, struct dls_error *err);
int submit_cancel(const struct submit *submit, struct dls_error *err);
int submit_pause(const struct submit *submit, struct dls_error *err);
int submit_resume(const struct submit *submit, struct dls_error *err);
int submit_priority(const struct submit *submit, struct dls_error *err);
int submit_forget(const struct submit *submit, struct dls_error *err);
int submit_results(const struct submit *submit, struct dls_error *err);
int submit_model_show(const struct submit *submit, struct dls_error *err);
int submit_model_run(const struct submit *submit, struct dls_error *err);
int submit_model_profile(const struct submit *submit, struct dls_error *err);

/* A client of the master that the options name; nothing is waited for. Errors: as dls_client_create. */
int submit_client_create(
	const struct submit *submit, const char *master, struct dls_client **client_out, struct dls_error *err);

/* Waits until the master has answered. Returns 0 too when a signal came first. Errors: as dls_client_wait; the sentence
 * names the address. */
int submit_client_wait(const struct submit *submit, struct dls_client *client, struct dls_error *err);

/* Returns 1 if there is a reason that a job waits of which nothing runs, which goes into `why` as a sentence about it:
 * "no worker is ...". May ask the master, a moment long: results and signals wait meanwhile. Returns 0 if there is no
 * reason, or the error with which the master did not answer. */
int submit_explain_wait(struct dls_ctx *ctx, struct dls_client *client, const struct dls_job *job,
	const struct dls_job_progress *state, struct dls_error *why);

#endif
