/* One state machine of core/ under test: what is said to it, what it says, and which payloads it has.
 *
 * What it says is kept until it is next spoken to. Every payload that it was given must come back exactly once:
 * unit_machine_fini destroys it and counts. */
#ifndef DLSI_UNIT_MACHINE_H
#define DLSI_UNIT_MACHINE_H

#include "core/agent.h"
#include "core/master.h"
#include "core/session.h"
#include <stdbool.h>

enum { UNIT_SLOTS = 512 };

struct unit_machine {
	void *core;
	void (*step)(void *core, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects);
	void (*destroy)(void *core, struct dlsi_effects *effects);
	int64_t now_ns;
	struct dlsi_id cluster; /* said in the header of messages, like the term */
	uint64_t term;
	uint64_t frame_bytes;             /* of each payload that goes with a message */
	uint32_t generations[UNIT_SLOTS]; /* of the peers at the slots; 1 unless a test changes it */
	struct dlsi_effects effects;
	struct dlsi_buffer block;
	struct dlsi_buffer held; /* one byte per handle: whether the machine has it */
};

enum { UNIT_S = 1000000000, UNIT_MS = 1000000 };

/* The machine at 1000 s of its clock, with the memory of `alloc`. A master beats every 100 ms and takes a silent worker
 * for lost after 500, one whose connection is gone after 50, a client after 1000. */
void unit_master_init(struct unit_machine *machine, const struct dlsi_alloc *alloc, bool durable);

/* The same with so much room for jobs; 0: as much as usual. */
void unit_small_master_init(struct unit_machine *machine, uint64_t job_bytes);

/* Offers two devices of 8 credits, and the handler "work". */
void unit_agent_init(struct unit_machine *machine, const struct dlsi_alloc *alloc);
void unit_session_init(struct unit_machine *machine, const struct dlsi_alloc *alloc);

/* Those above say everything at once; these keep for a while what nobody waits for. */
void unit_patient_master_init(struct unit_machine *machine, int64_t patience_ns);
void unit_patient_session_init(struct unit_machine *machine, int64_t patience_ns);

void unit_machine_fini(struct unit_machine *machine);

/* The event alone; then a turn. Nothing once memory ran out: what it then says is not to be heard. */
void unit_machine_step(struct unit_machine *machine, struct dlsi_event event);

/* The same with one message of these records; those with frames = 1 get a payload. */
void unit_machine_tell(struct unit_machine *machine, uint32_t slot, const struct dlsi_record *records, size_t count);

/* Lets time pass, with a TIMER event whenever one is due. */
void unit_machine_wait(struct unit_machine *machine, int64_t duration_ns);

struct dlsi_payload unit_machine_give(struct unit_machine *machine, uint64_t bytes);

/* The n-th record (from 0) of this kind that it now says to whom is at the slot; false if there are fewer. */
bool unit_machine_says(
	const struct unit_machine *machine, uint32_t slot, uint16_t kind, unsigned n, struct dlsi_record *record_out);
unsigned unit_machine_count(const struct unit_machine *machine, uint32_t slot, uint16_t kind);

/* The n-th effect (from 0) of this kind; NULL if there are fewer. */
const struct dlsi_effect *unit_machine_does(const struct unit_machine *machine, enum dlsi_effect_kind kind, unsigned n);

/* Payloads that it has now. */
uint64_t unit_machine_held(const struct unit_machine *machine);

/* A connection to the master at slot 0, and its answer to the REGISTER that it takes. */
void unit_machine_connect(struct unit_machine *machine);
void unit_machine_welcome(struct unit_machine *machine);
void unit_machine_welcome_again(struct unit_machine *machine);

/* The first NOTIFY effect with this notice; NULL if there is none. */
const struct dlsi_effect *unit_machine_notice(const struct unit_machine *machine, enum dlsi_notice notice);

/* One record. */
void unit_machine_say(struct unit_machine *machine, uint32_t slot, struct dlsi_record record);

/* What a master now assigns to this peer, the n-th of it; the test fails if there is less. */
struct dlsi_assign unit_assigned(const struct unit_machine *master, uint32_t slot, unsigned n);

/* What the peer is now told: the code of the first REFUSED, the state of the first END; 0 if there is none. */
int unit_refusal(const struct unit_machine *master, uint32_t slot);
uint8_t unit_end_state(const struct unit_machine *master, uint32_t slot);

/* Records as workers and clients say them; ids are their first byte. */
struct dlsi_id unit_id(uint8_t first);
void unit_register_worker(struct unit_machine *master, uint32_t slot, uint64_t incarnation, const char *name,
	uint16_t credits, const char *handler);
void unit_register_client(struct unit_machine *master, uint32_t slot, uint64_t incarnation);
struct dlsi_record unit_spec(uint32_t number, const char *json);
struct dlsi_record unit_submit(uint8_t job, uint32_t spec, uint64_t count);

/* Lets a worker do a task of the client's specification 0, so that the master knows that its tasks are short. */
void unit_try_worker(struct unit_machine *master, uint32_t client, uint32_t worker);

/* Says which attempts' results the client has and which it could not fetch, with an unlimited window. */
void unit_ack(struct unit_machine *master, uint32_t slot, uint8_t job, const uint64_t *taken, unsigned taken_count,
	const uint64_t *lost, unsigned lost_count);

/* The result of what was assigned, of `bytes`: inside the message, or offered. */
struct dlsi_record unit_result(const struct dlsi_assign *assign, uint64_t bytes, bool offered);

/* A worker hands this attempt back, or with NULL nothing; valid until the next call. */
struct dlsi_record unit_handback(uint8_t leaving, const uint64_t *attempt);

#endif
