/* Options that have no effect without another one, or with it. */
#include "cli/failure.h"
#include "cli/options.h"

static bool is_on(const struct cli_option *option, const void *values)
{
	if (option->kind == CLI_FLAG)
		return *(const int *)((const char *)values + option->offset) > 0;
	return cli_option_has_value(option, values);
}

int cli_rules_check(const struct cli_rule *rules, const struct cli_option *table, uint64_t given, const void *values,
	struct dls_error *err)
{
	for (; rules->option; rules++) {
		const struct cli_option *option = cli_option_find(table, rules->option);
		bool needs = rules->relation == CLI_NEEDS;

		if (!(given >> (option - table) & 1) || !is_on(option, values) ||
			is_on(cli_option_find(table, rules->other), values) == needs)
			continue;
		return cli_fail(err, DLS_EINVAL, "--%s has no effect with%s --%s: %s", rules->option,
			needs ? "out" : "", rules->other, rules->why);
	}
	return 0;
}
