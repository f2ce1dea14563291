#include "policy/feedback.h"

#include "policy/ordered.h"
#include "policy/placement.h"

static bool choose(void *ordered, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out)
{
	return dlsi_ordered_choose_in_turn(ordered, view, dlsi_place_in_time, choice_out);
}

const struct dlsi_policy_ops dlsi_policy_feedback = {
	.abi = DLSI_POLICY_ABI,
	.size = sizeof(struct dlsi_policy_ops),
	.name = "feedback",
	.create = dlsi_ordered_create_plain,
	.destroy = dlsi_ordered_destroy,
	.ready = dlsi_ordered_ready_in_turn,
	.idle = dlsi_ordered_idle,
	.choose = choose,
};
