/* What is asked of a device's table before it is used. */
#include "device/device.h"
#include "test/unit/unit.h"
#include <string.h>

static void assert_refused(const struct dlsi_device_ops *ops, const char *says)
{
	struct dlsi_device *device = NULL;
	struct dls_error err = {0};

	assert_int_equal(dlsi_device_create(unit_alloc(), ops, &device, &err), DLS_EINVAL);
	assert_null(device);
	assert_non_null(strstr(err.text, says));
}

static void test_incomplete_tables_are_refused(void **state)
{
	struct dlsi_device_ops ops = dlsi_device_onednn;

	(void)state;
	ops.abi++;
	assert_refused(&ops, "interface 2");
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
		assert_int_equal(
			dlsi_device_create(unit_alloc_failing_at(n), &dlsi_device_onednn, &device, &err), DLS_ENOMEM);
	assert_int_equal(dlsi_device_create(unit_alloc_failing_at(3), &dlsi_device_onednn, &device, &err), 0);
	dlsi_device_destroy(device);
}

UNIT_MAIN(test_incomplete_tables_are_refused, test_memory_exhaustion_is_an_error)
