/* The table of peers against the plainest one, an array that is searched, from seeds. */
#include "base/limits.h"
#include "net/peers.h"
#include "test/unit/unit.h"
#include <stdbool.h>

enum { SEEDS = 100, STEPS = 400, MODEL = 4096, IDS = 60, FDS = 20 };

struct known {
	struct dlsi_peer peer;
	uint32_t id;
	int fd;
	bool there, lost;
	unsigned order; /* when it was lost */
};

struct model {
	struct known known[MODEL];
	unsigned count, losses;
};

static struct known *model_find(struct model *model, uint32_t id, int fd)
{
	for (unsigned i = 0; i < model->count; i++) {
		struct known *known = &model->known[i];

		if (known->there && (known->id == id || (fd >= 0 && known->fd == fd)))
			return known;
	}
	return NULL;
}

static void model_lose(struct model *model, int fd)
{
	struct known *known = model_find(model, UINT32_MAX, fd);

	if (!known)
		return;
	known->fd = -1;
	known->lost = true;
	known->order = ++model->losses;
}

static struct known *model_first_lost(struct model *model)
{
	struct known *first = NULL;

	for (unsigned i = 0; i < model->count; i++) {
		struct known *known = &model->known[i];

		if (known->there && known->lost && (!first || known->order < first->order))
			first = known;
	}
	return first;
}

static void add(struct dlsi_peers *peers, struct model *model, uint32_t id, int fd)
{
	struct known *known = &model->known[model->count];

	if (model_find(model, id, -1))
		return;
	model_lose(model, fd);
	*known = (struct known){.id = id, .fd = fd, .there = true};
	assert_int_equal(dlsi_peers_add(peers, id, fd, &known->peer), 0);
	assert_true(known->peer.generation > 0);
	for (unsigned i = 0; i < model->count; i++)
		assert_false(dlsi_peer_equal(model->known[i].peer, known->peer));
	model->count++;
}

static void take_lost(struct dlsi_peers *peers, struct model *model)
{
	struct known *first = model_first_lost(model);
	struct dlsi_peer taken = dlsi_peers_take_lost(peers);

	if (!first) {
		assert_int_equal(taken.generation, 0);
		return;
	}
	assert_true(dlsi_peer_equal(taken, first->peer));
	first->lost = false;
}

static void remove_one(struct dlsi_peers *peers, struct model *model, unsigned i)
{
	dlsi_peers_remove(peers, model->known[i].peer); /* which may have gone long ago */
	model->known[i].there = false;
}

static void assert_same(const struct dlsi_peers *peers, struct model *model)
{
	unsigned there = 0;

	for (unsigned i = 0; i < model->count; i++) {
		const struct known *known = &model->known[i];
		uint32_t id = 0;

		assert_int_equal(dlsi_peers_routing_id(peers, known->peer, &id), known->there);
		there += known->there;
		if (!known->there)
			continue;
		assert_int_equal(id, known->id);
		assert_true(dlsi_peer_equal(dlsi_peers_by_id(peers, id), known->peer));
		if (known->fd >= 0)
			assert_true(dlsi_peer_equal(dlsi_peers_by_fd(peers, known->fd), known->peer));
	}
	assert_int_equal(peers->count, there);
}

static void test_agrees_with_array(void **state)
{
	struct model *model = test_malloc(sizeof *model);

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct dlsi_rng rng = unit_rng(seed);
		struct dlsi_peers peers;

		model->count = model->losses = 0;
		dlsi_peers_init(&peers, unit_alloc(), seed);
		for (int step = 0; step < STEPS; step++) {
			switch (dlsi_rng_below(&rng, 4)) {
			case 0:
			case 1:
				add(&peers, model, (uint32_t)dlsi_rng_below(&rng, IDS),
					(int)dlsi_rng_below(&rng, FDS) - 1);
				break;
			case 2:
				if (model->count)
					remove_one(&peers, model, (unsigned)dlsi_rng_below(&rng, model->count));
				break;
			default:
				if (dlsi_rng_below(&rng, 2)) {
					int fd = (int)dlsi_rng_below(&rng, FDS) - 1;

					model_lose(model, fd);
					dlsi_peers_lose_fd(&peers, fd);
				}
				take_lost(&peers, model);
			}
			assert_same(&peers, model);
		}
		while (dlsi_peers_any_lost(&peers))
			take_lost(&peers, model);
		assert_null(model_first_lost(model));
		dlsi_peers_fini(&peers);
	}
	test_free(model);
}

static void test_full_table_refuses(void **state)
{
	struct dlsi_peer peer, first = {0};
	struct dlsi_peers peers;

	(void)state;
	dlsi_peers_init(&peers, unit_alloc(), 1);
	for (uint32_t i = 0; i < DLSI_PEERS; i++)
		assert_int_equal(dlsi_peers_add(&peers, i, (int)i, i ? &peer : &first), 0);
	assert_int_equal(dlsi_peers_add(&peers, DLSI_PEERS, -1, &peer), DLS_ELIMIT);
	dlsi_peers_remove(&peers, first);
	assert_int_equal(dlsi_peers_add(&peers, DLSI_PEERS, -1, &peer), 0);
	assert_int_equal(peer.slot, first.slot);
	assert_int_equal(peer.generation, first.generation + 1);
	dlsi_peers_fini(&peers);
}

/* Whichever request fails, the peer is not there, and is there at the next try. */
static void test_memory_runs_out(void **state)
{
	int rc = DLS_ENOMEM;

	(void)state;
	for (unsigned n = 1; rc; n++) {
		struct dlsi_peers peers;
		struct dlsi_peer peer;

		assert_true(n < 50);
		dlsi_peers_init(&peers, unit_alloc_failing_at(n), 1);
		rc = 0;
		for (uint32_t i = 0; i < 40 && rc == 0; i++) {
			rc = dlsi_peers_add(&peers, i, (int)i, &peer);
			if (rc == 0)
				continue;
			assert_int_equal(rc, DLS_ENOMEM);
			assert_int_equal(dlsi_peers_by_id(&peers, i).generation, 0);
			assert_int_equal(dlsi_peers_by_fd(&peers, (int)i).generation, 0);
			assert_int_equal(peers.count, i);
		}
		dlsi_peers_fini(&peers);
	}
}

UNIT_MAIN(test_agrees_with_array, test_full_table_refuses, test_memory_runs_out)
