#include "base/recent.h"

static struct dlsi_recent at(const struct dlsi_recent *recent, int64_t now_ns)
{
	struct dlsi_recent rolled = *recent;
	int64_t passed_ns = now_ns - recent->began_ns;

	if (passed_ns < recent->span_ns)
		return rolled;
	rolled.before = passed_ns < 2 * recent->span_ns ? recent->most : 0;
	rolled.most = 0;
	rolled.began_ns = now_ns - passed_ns % recent->span_ns;
	return rolled;
}

void dlsi_recent_add(struct dlsi_recent *recent, int64_t now_ns, int64_t value)
{
	*recent = at(recent, now_ns);
	if (value > recent->most)
		recent->most = value;
}

int64_t dlsi_recent_most(const struct dlsi_recent *recent, int64_t now_ns)
{
	struct dlsi_recent rolled = at(recent, now_ns);

	return rolled.most > rolled.before ? rolled.most : rolled.before;
}
