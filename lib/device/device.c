#include "device/device.h"

int dlsi_device_create(const struct dlsi_alloc *alloc, const struct dlsi_device_ops *ops, const char *folder,
	struct dlsi_device **device_out, struct dls_error *err)
{
	struct dlsi_device *device;
	int rc;

	if (ops->abi != DLSI_DEVICE_ABI || ops->size != sizeof *ops)
		return dlsi_fail(err, DLS_EINVAL,
			"the device is built for interface %u of %zu bytes, here it is %u of %zu", ops->abi, ops->size,
			DLSI_DEVICE_ABI, sizeof *ops);
	if (!ops->kind || !ops->open || !ops->close || !ops->item_ns || !ops->set_create || !ops->set_destroy ||
		!ops->set_share || !ops->program_create || !ops->program_destroy || !ops->program_run ||
		!ops->program_facts || !ops->program_step)
		return dlsi_fail(err, DLS_EINVAL, "the device '%s' leaves a function out", ops->kind ? ops->kind : "");
	device = dlsi_calloc(alloc, 1, sizeof *device);
	if (!device)
		return dlsi_fail_memory(err);
	device->ops = ops;
	device->alloc = alloc;
	rc = ops->open(alloc, folder, &device->state, err);
	if (rc)
		dlsi_free(alloc, device);
	else
		*device_out = device;
	return rc;
}

void dlsi_device_destroy(struct dlsi_device *device)
{
	if (!device)
		return;
	device->ops->close(device->state);
	dlsi_free(device->alloc, device);
}
