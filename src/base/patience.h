/*
 * patience -- for how long a child process that gives no sign of life is waited for.
 *
 * Who stops a job stops parent and child (Ctrl-Z, docker pause), and clocks go on. A parent that
 * did not look for longer than a moment may have been stopped: then the child has a moment more,
 * once, to give the sign that it could not give.
 */
#ifndef SNAG_BASE_PATIENCE_H
#define SNAG_BASE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_MOMENT_NS UINT64_C(3000000000)

struct patience {
    uint64_t span_ns;   /* without a sign that are too long */
    uint64_t until_ns;  /* when it ends */
    uint64_t looked_ns; /* when that was asked last */
    bool has_more;      /* the moment was given */
};

/* patience_renew -- there was a sign of life, or a reason not to give one. */
static inline void patience_renew(struct patience *p, uint64_t now_ns)
{
    p->looked_ns = now_ns;
    p->until_ns = now_ns + p->span_ns;
    p->has_more = false;
}

/* patience_is_over -- ask often: every second, or so. */
static inline bool patience_is_over(struct patience *p, uint64_t now_ns)
{
    bool was_away = now_ns - p->looked_ns > PATIENCE_MOMENT_NS;

    p->looked_ns = now_ns;
    if (was_away && !p->has_more && p->until_ns < now_ns + PATIENCE_MOMENT_NS) {
        p->has_more = true;
        p->until_ns = now_ns + PATIENCE_MOMENT_NS;
    }
    return now_ns >= p->until_ns;
}

#endif
