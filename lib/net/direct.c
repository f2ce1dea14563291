#include "net/direct.h"

#include <sys/uio.h>
#include <unistd.h>

struct dlsi_direct_place dlsi_direct_lend(const void *data, const struct dlsi_id *witness)
{
	return (struct dlsi_direct_place){
		(uint64_t)getpid(), (uint64_t)(uintptr_t)data, (uint64_t)(uintptr_t)witness, *witness};
}

static bool read_at(pid_t process, uint64_t address, void *to, size_t length)
{
	while (length) {
		struct iovec local = {to, length}, remote = {(void *)(uintptr_t)address, length};
		ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);

		if (count <= 0)
			return false;
		to = (char *)to + count; /* at most 2 GB at once */
		address += (uint64_t)count;
		length -= (size_t)count;
	}
	return true;
}

bool dlsi_direct_read(const struct dlsi_direct_place *place, void *to, size_t length)
{
	pid_t process = (pid_t)place->process;
	struct dlsi_id found;

	if (process <= 0 || (uint64_t)process != place->process)
		return false;
	return read_at(process, place->witness_address, &found, sizeof found) &&
	       dlsi_id_equal(&found, &place->witness) && read_at(process, place->address, to, length);
}
