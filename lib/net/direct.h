/* Reading the memory of a process of the same machine: one copy, made by the reader, where a socket takes three and
 * both sides' time. Linux allows it to processes of one user (process_vm_readv), if its settings do; elsewhere and else
 * it fails and the bytes come over the connection.
 *
 * Process ids mean other processes in other containers. So whoever lends memory lends with it a witness, random bytes
 * at an address of its own, and what is read counts only if the witness was found there. */
#ifndef DLSI_DIRECT_H
#define DLSI_DIRECT_H

#include "base/id.h"
#include <stdbool.h>
#include <stddef.h>

/* Where bytes lie. */
struct dlsi_direct_place {
	uint64_t process;
	uint64_t address;
	uint64_t witness_address;
	struct dlsi_id witness;
};

/* The place of memory of this process; the witness must stay where it is as long as the memory is lent. */
struct dlsi_direct_place dlsi_direct_lend(const void *data, const struct dlsi_id *witness);

/* Copies `length` bytes from there; false: they cannot be had, and `to` holds nothing of use. */
bool dlsi_direct_read(const struct dlsi_direct_place *place, void *to, size_t length);

#endif
