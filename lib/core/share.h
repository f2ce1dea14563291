/* How much one client has of what all clients share in a master's memory: it may have as much as is left for others.
 * One alone has half; however many take all they can, the next still finds some. Pure. */
#ifndef DLSI_SHARE_H
#define DLSI_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* `own` becomes larger by `more`, and `all`, which includes it, with it. */
static inline bool dlsi_share_has_room(uint64_t own, uint64_t all, uint64_t more, uint64_t limit)
{
	return own + more <= limit && all + more <= limit - (own + more);
}

#endif
