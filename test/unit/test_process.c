/* A process and its children, with the page that tells them apart and without. */
#include "base/process.h"
#include "test/unit/unit.h"
#include <sys/wait.h>
#include <unistd.h>

/* What a child finds, and then a child of that one. */
static bool is_this_in_child(const struct dlsi_process *process, int generations)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(dlsi_process_is_this(process) || (generations > 1 && is_this_in_child(process, generations - 1)));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) != 0;
}

static void test_children_are_told_apart(void **state)
{
	struct dlsi_process process;

	(void)state;
	dlsi_process_note(&process);
	assert_true(dlsi_process_is_this(&process));
	assert_false(is_this_in_child(&process, 2));
	assert_true(dlsi_process_is_this(&process));
	dlsi_process_drop(&process);
}

static void test_also_where_the_kernel_has_no_such_pages(void **state)
{
	struct dlsi_process process;

	(void)state;
	dlsi_process_note(&process);
	dlsi_process_drop(&process);
	assert_true(dlsi_process_is_this(&process));
	assert_false(is_this_in_child(&process, 2));
}

UNIT_MAIN(test_children_are_told_apart, test_also_where_the_kernel_has_no_such_pages)
