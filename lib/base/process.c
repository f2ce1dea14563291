#include "base/process.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* The system rounds it up to a page. */
#define PAGE_BYTES sizeof(atomic_bool)

void dlsi_process_note(struct dlsi_process *process_out)
{
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*process_out = (struct dlsi_process){.pid = getpid()};
	if (page == MAP_FAILED)
		return;
	if (madvise(page, PAGE_BYTES, MADV_WIPEONFORK)) {
		munmap(page, PAGE_BYTES);
		return;
	}
	process_out->page = page;
	atomic_init(process_out->page, true);
}

void dlsi_process_drop(struct dlsi_process *process)
{
	if (process->page)
		munmap(process->page, PAGE_BYTES);
	process->page = NULL;
}

bool dlsi_process_is_this(const struct dlsi_process *process)
{
	if (process->page)
		return atomic_load_explicit(process->page, memory_order_relaxed);
	return process->pid == getpid();
}
