/* A policy that its user writes: a Lua script (policy/script.h) that defines `choose(view)`. It is called once a turn
 * with one bounded batch of what could be done and returns a list of {job, device}; docs/policies.md tells of it.
 *
 * Parameters: "script", its text; "seed" of its math.random, 1 by default. A script is tried with an empty view before
 * it decides anything. What it chose that has become impossible by its earlier choices is passed over; what was never
 * in the view, like an error or an overrun, is its failure. */
#ifndef DLSI_LUA_H
#define DLSI_LUA_H

#include "core/policy_ops.h"

extern const struct dlsi_policy_ops dlsi_policy_lua;

#endif
