/* Control: what an operator sees and changes, from any client of a master. The jobs of all clients are meant, whoever
 * has submitted them; a job is named by its id, 32 hexadecimal digits (dls_job_id, dls_client_jobs), or by how that
 * begins, at least 8 digits, as long as no other job begins so.
 *
 * Each call asks the master and waits for its answer, timeout_ms at most, below 0 for ever. Answers are JSON objects,
 * freed with dls_free; docs/CLI.md says what they hold. Besides those named below their errors are DLS_EUNREACHABLE,
 * DLS_ETIMEOUT, DLS_EBUSY (too many commands at once), DLS_EINVAL, and of a job DLS_ENOTFOUND (there is none, or
 * several begin so) and DLS_ESTATE (it has ended; the sentence says how). */
#ifndef DLSCHED_CONTROL_H
#define DLSCHED_CONTROL_H

#include <dlsched/client.h>
#include <dlsched/resource.h>
#include <dlsched/sized.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the job. Whoever has submitted it gets DLS_ECANCELLED with a sentence that says that a command did it. */
int dls_client_cancel(struct dls_client *client, const char *job, int timeout_ms, struct dls_error *err);

/* A paused job gives out nothing more; what runs comes to its end and counts. Doing it twice is doing it once. */
int dls_client_pause(struct dls_client *client, const char *job, int timeout_ms, struct dls_error *err);
int dls_client_resume(struct dls_client *client, const char *job, int timeout_ms, struct dls_error *err);

/* Higher ones go first, for policies that look at it; from -1,000,000 to 1,000,000. */
int dls_client_set_priority(
	struct dls_client *client, const char *job, int32_t priority, int timeout_ms, struct dls_error *err);

/* One job and its tasks; also of a job that has ended, while it is remembered. */
int dls_client_describe(
	struct dls_client *client, const char *job, int timeout_ms, char **json_out, struct dls_error *err);

/* Why the job is not running, or not running faster. */
int dls_client_explain(
	struct dls_client *client, const char *job, int timeout_ms, char **json_out, struct dls_error *err);

/* Which jobs dls_client_jobs lists. */
struct dls_jobs_options {
	size_t size;
	const char *state;  /* "live", "ended", "all", or one state; NULL: "live" */
	const char *tenant; /* NULL: any */
	const char *after;  /* "next" of the page before; NULL: the first page */
	uint32_t limit;     /* jobs of the page, 256 at most; 0: 256 */
	const char *name;   /* of the job; NULL: any */
	const char *tag;    /* that the job has; NULL: any */
};

#define DLS_JOBS_OPTIONS_INIT DLS_SIZED(struct dls_jobs_options)

/* A page of jobs, {"jobs": [...]}, the oldest first. Where there are more it has a "next". `options` may be NULL. */
int dls_client_jobs(struct dls_client *client, const struct dls_jobs_options *options, int timeout_ms, char **json_out,
	struct dls_error *err);

/* The worker of this name gets no more tasks: what it has not begun is given to others, and what it runs comes to its
 * end. Lasts until dls_client_undrain, or until the worker's process ends. Errors: DLS_ENOTFOUND, of undrain DLS_ESTATE
 * (it is about to leave by itself). */
int dls_client_drain(struct dls_client *client, const char *worker, int timeout_ms, struct dls_error *err);
int dls_client_undrain(struct dls_client *client, const char *worker, int timeout_ms, struct dls_error *err);

/* Another policy decides from now on, by its name ("feedback"), or the same with other parameters: `params` is a JSON
 * object, NULL for none (docs/CLI.md lists both). Jobs go on as they are. Errors: DLS_EINVAL, also from the master: it
 * has no such policy or parameter, and nothing has changed. */
int dls_client_set_policy(
	struct dls_client *client, const char *policy, const char *params, int timeout_ms, struct dls_error *err);

/* A tenant that is not like any other. What is left out is as if nothing had been set. */
struct dls_tenant_options {
	size_t size;
	double weight; /* in policies that share, 1e-6 to 1e6: with twice as much it gets twice the share; 0: 1 */
	const struct dls_resource
		*quota; /* what its tasks may take together, also "devices"; NULL: as much as there is */
};

#define DLS_TENANT_OPTIONS_INIT DLS_SIZED(struct dls_tenant_options)

/* The tenant need not have jobs yet. It is kept until it is set to what any other is (`options` NULL). */
int dls_client_set_tenant(struct dls_client *client, const char *tenant, const struct dls_tenant_options *options,
	int timeout_ms, struct dls_error *err);

/* What tenants use and have used, {"tenants": [...]}: weight, quota, what their tasks hold now, and since the master
 * runs jobs, items, seconds of devices, and bytes. `tenant` is the one that is asked for, or NULL for a page of all, in
 * the order in which they came; where there are more it has a "next", which is `after` (else NULL) of the next page. A
 * tenant without jobs and clients is remembered as long as nobody needs its place. Errors: DLS_ENOTFOUND. */
int dls_client_tenants(struct dls_client *client, const char *tenant, const char *after, int timeout_ms,
	char **json_out, struct dls_error *err);

#ifdef __cplusplus
}
#endif
#endif
