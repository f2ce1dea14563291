/* libdlsched: a job (a model and many inputs) is divided into tasks, the tasks go to workers on many unequal machines,
 * and the results come back in order.
 *
 * Everything hangs on a context (ctx.h). A program may be a client (client.h, job.h, job_file.h, call.h, control.h), a
 * worker with handlers of its own (worker.h), a master (master.h) with policies of its own (policy.h), all of them in
 * one process (cluster.h), or run a model right here (model.h).
 *
 * Any thread may make any call unless its comment says otherwise. Option structs start with their size and have an
 * _INIT; a zero member means the documented default. Handles are destroyed before their context. After a fork without
 * exec the child's calls on a handle of its parent answer DLS_EFORK. */
#ifndef DLSCHED_H
#define DLSCHED_H

#include <dlsched/call.h>
#include <dlsched/client.h>
#include <dlsched/cluster.h>
#include <dlsched/control.h>
#include <dlsched/ctx.h>
#include <dlsched/error.h>
#include <dlsched/job.h>
#include <dlsched/job_file.h>
#include <dlsched/master.h>
#include <dlsched/model.h>
#include <dlsched/policy.h>
#include <dlsched/resource.h>
#include <dlsched/tensor.h>
#include <dlsched/version.h>
#include <dlsched/worker.h>

#endif
