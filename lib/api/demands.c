#include "api/demands.h"

#include "api/name.h"
#include "base/limits.h"
#include <string.h>

static int check_resource(const char *what, const struct dls_resource *resource, struct dls_error *err)
{
	int rc = dlsi_name_check("the name of a resource", resource->name, err);

	if (rc)
		return rc;
	if (!(resource->amount >= 1e-3 && resource->amount <= DLSI_RESOURCE_MOST))
		return dlsi_fail(err, DLS_EINVAL,
			"%s names %.15g of the resource \"%s\"; it must be above 0 (0.001 is the least) and at most "
			"%.0e",
			what, resource->amount, resource->name, DLSI_RESOURCE_MOST);
	return 0;
}

static int check_once(const char *what, const struct dls_resource *resources, unsigned count, struct dls_error *err)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(resources[i].name, resources[count].name) == 0)
			return dlsi_fail(
				err, DLS_EINVAL, "%s names the resource \"%s\" twice", what, resources[i].name);
	return 0;
}

int dlsi_resources_check(const char *what, const struct dls_resource *resources, struct dls_error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && resources && resources[i].name; i++) {
		if (i == DLSI_RESOURCE_KINDS)
			return dlsi_fail(
				err, DLS_EINVAL, "%s names more than %d kinds of resources", what, DLSI_RESOURCE_KINDS);
		rc = check_resource(what, &resources[i], err);
		if (rc == 0)
			rc = check_once(what, resources, i, err);
	}
	return rc;
}

int dlsi_demand_check(const char *what, const struct dls_resource *resources, struct dls_error *err)
{
	for (unsigned i = 0; resources && resources[i].name; i++)
		if (strcmp(resources[i].name, "devices") == 0)
			return dlsi_fail(err, DLS_EINVAL,
				"the devices of %s are no resource with an amount: a task runs on one, a worker says "
				"how "
				"many it has with its option devices",
				what);
	return dlsi_resources_check(what, resources, err);
}

int dlsi_names_check(const char *each, const char *const *names, unsigned most, struct dls_error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && names && names[i]; i++)
		rc = i < most ? dlsi_name_check(each, names[i], err)
			      : dlsi_fail(err, DLS_EINVAL, "%s is one more than the %u that there may be", each, most);
	return rc;
}
