/* What is asked of a device's table before it is used. */
#include "device/device.h"
#include "kernel/isa.h"
#include "test/unit/unit.h"
#include <dnnl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void assert_refused(const struct dlsi_device_ops *ops, const char *says)
{
	struct dlsi_device *device = NULL;
	struct dls_error err = {0};

	assert_int_equal(dlsi_device_create(unit_alloc(), ops, NULL, &device, &err), DLS_EINVAL);
	assert_null(device);
	assert_non_null(strstr(err.text, says));
}

static void test_incomplete_tables_are_refused(void **state)
{
	struct dlsi_device_ops ops = dlsi_device_onednn;

	(void)state;
	ops.abi++;
	assert_refused(&ops, "interface 4");
	ops = dlsi_device_onednn;
	ops.size--;
	assert_refused(&ops, "interface");
	ops = dlsi_device_onednn;
	ops.program_run = NULL;
	assert_refused(&ops, "'cpu' leaves a function out");
	ops = dlsi_device_onednn;
	ops.kind = NULL;
	assert_refused(&ops, "leaves a function out");
}

static void test_memory_exhaustion_is_an_error(void **state)
{
	struct dlsi_device *device = NULL;
	struct dls_error err;

	(void)state;
	for (unsigned n = 1; n <= 2; n++)
		assert_int_equal(dlsi_device_create(unit_alloc_failing_at(n), &dlsi_device_onednn, NULL, &device, &err),
			DLS_ENOMEM);
	assert_int_equal(dlsi_device_create(unit_alloc_failing_at(3), &dlsi_device_onednn, NULL, &device, &err), 0);
	dlsi_device_destroy(device);
}

/* ---- DLS_ISA. oneDNN's limit is that of a process, and for good, so each of these looks in one of its own. */

/* What the child exits with that opens a device. */
static int opened(const char *isa, bool used_before)
{
	struct dlsi_device *device;
	int status, code;
	pid_t child = fork();

	if (child == 0) {
		setenv("DLS_ISA", isa, 1);
		if (used_before)
			dnnl_get_effective_cpu_isa();
		code = dlsi_device_create(&dlsi_alloc_libc, &dlsi_device_onednn, NULL, &device, NULL);
		if (code == 0)
			code = dlsi_device_create(&dlsi_alloc_libc, &dlsi_device_onednn, NULL, &device, NULL);
		_exit(code ? -code : (int)dnnl_get_effective_cpu_isa());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_onednn_goes_no_further_than_our_kernels(void **state)
{
	enum dlsi_isa most = dlsi_isa_of_processor();

	(void)state;
	if (most >= DLSI_ISA_AVX2) {
		assert_int_equal(opened("generic", false), dnnl_cpu_isa_sse41);
		assert_int_equal(opened("generic", true), -DLS_ESTATE);
	}
	if (most >= DLSI_ISA_AVX512)
		assert_int_equal(opened("avx2", false), dnnl_cpu_isa_avx2);
	assert_int_equal(opened("avx512", true), opened("", false));
}

static void test_unknown_instruction_sets_are_refused(void **state)
{
	(void)state;
	assert_int_equal(opened("sse", false), -DLS_EINVAL);
	assert_int_equal(opened("AVX2", false), -DLS_EINVAL);
}

UNIT_MAIN(test_incomplete_tables_are_refused, test_memory_exhaustion_is_an_error,
	test_onednn_goes_no_further_than_our_kernels, test_unknown_instruction_sets_are_refused)
