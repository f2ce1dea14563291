#include "policy/registry.h"

#include "policy/ddrf.h"
#include "policy/deadline.h"
#include "policy/drf.h"
#include "policy/feedback.h"
#include "policy/leastloaded.h"
#include "policy/lua.h"
#include "policy/priority.h"
#include "policy/roundrobin.h"

const struct dlsi_policy_ops *const dlsi_policies[DLSI_POLICIES + 1] = {
	&dlsi_policy_roundrobin,
	&dlsi_policy_leastloaded,
	&dlsi_policy_priority,
	&dlsi_policy_feedback,
	&dlsi_policy_deadline,
	&dlsi_policy_drf,
	&dlsi_policy_ddrf,
	&dlsi_policy_lua,
};
