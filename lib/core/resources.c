#include "core/resources.h"

void dlsi_resources_add(struct dlsi_resources *to, const struct dlsi_resources *more)
{
	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		to->amount[i] += more->amount[i];
}

void dlsi_resources_take(struct dlsi_resources *from, const struct dlsi_resources *less)
{
	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		from->amount[i] -= less->amount[i];
}

void dlsi_resources_raise(struct dlsi_resources *to, const struct dlsi_resources *other)
{
	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		if (to->amount[i] < other->amount[i])
			to->amount[i] = other->amount[i];
}

bool dlsi_resources_cover(const struct dlsi_resources *there, const struct dlsi_resources *asked)
{
	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		if (there->amount[i] < asked->amount[i])
			return false;
	return true;
}

double dlsi_resources_dominant(const struct dlsi_resources *used, const struct dlsi_resources *total)
{
	double most = 0;

	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++) {
		double share = total->amount[i] ? (double)used->amount[i] / (double)total->amount[i] : 0;

		if (share > most)
			most = share;
	}
	return most;
}
