#include "kernel/parallel.h"

#ifdef _OPENMP
#include "base/handover.h"
#include "kernel/standby.h"
#include <omp.h>
#include <stdlib.h>

struct team {
	int64_t count;
	dlsi_parallel_part *part;
	void *work;
};

/* What one thread of the team does. */
static void take_part(struct team *team)
{
	dlsi_handover_take(team);
#pragma omp for schedule(dynamic) nowait
	for (int64_t index = 0; index < team->count; index++)
		team->part(team->work, index, omp_get_thread_num());
	dlsi_handover_give(team);
}

/* The sanitizer does not see that libgomp hands the pointer to each thread; of all the rest it is told. */
__attribute__((no_sanitize("thread"))) static void in_team(int threads, struct team *team)
{
#pragma omp parallel num_threads(threads)
	take_part(team);
}

/* The team that stands by while the calling thread is in dlsi_parallel_hold. */
struct hold {
	struct dlsi_standby standby;
	dlsi_parallel_body *body;
	void *arg;
};

static _Thread_local struct hold *held;

static void take_role(struct hold *hold)
{
	dlsi_handover_take(hold);
	if (omp_get_thread_num()) {
		dlsi_standby_serve(&hold->standby, omp_get_thread_num());
	} else {
		held = hold;
		hold->body(hold->arg);
		held = NULL;
		dlsi_standby_end(&hold->standby);
	}
	dlsi_handover_give(hold);
}

__attribute__((no_sanitize("thread"))) static void in_hold(struct hold *hold)
{
#pragma omp parallel num_threads(hold->standby.threads)
	take_role(hold);
}
#endif

void dlsi_parallel_hold(int threads, dlsi_parallel_body *body, void *arg)
{
#ifdef _OPENMP
	if (threads > 1) {
		struct hold hold = {.body = body, .arg = arg};

		dlsi_standby_init(&hold.standby, threads);
		dlsi_handover_give(&hold);
		in_hold(&hold);
		dlsi_handover_take(&hold);
		dlsi_standby_fini(&hold.standby);
		return;
	}
#else
	(void)threads;
#endif
	body(arg);
}

int dlsi_parallel_usual(uint32_t processors)
{
#ifdef _OPENMP
	return getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : (int)processors;
#else
	(void)processors;
	return 1;
#endif
}

void dlsi_parallel_set_threads(int threads)
{
#ifdef _OPENMP
	omp_set_num_threads(threads);
#else
	(void)threads;
#endif
}

int dlsi_parallel_threads(void)
{
#ifdef _OPENMP
	return omp_get_max_threads();
#else
	return 1;
#endif
}

void dlsi_parallel(int threads, int64_t count, dlsi_parallel_part *part, void *work)
{
#ifdef _OPENMP
	if (threads > 1 && count > 1 && held && held->standby.threads <= threads && count <= DLSI_STANDBY_PARTS) {
		dlsi_standby_share(&held->standby, count, part, work);
		return;
	}
	if (threads > 1 && count > 1) {
		struct team team = {.count = count, .part = part, .work = work};

		dlsi_handover_give(&team);
		in_team(threads, &team);
		dlsi_handover_take(&team);
		return;
	}
#else
	(void)threads;
#endif
	for (int64_t index = 0; index < count; index++)
		part(work, index, 0);
}
