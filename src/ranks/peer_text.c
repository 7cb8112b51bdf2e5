#include "ranks/peer_text.h"

#include "base/text.h"

#include <math.h>

/* "step > kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s)" */
static void say_path(const struct why *why, const struct peer_path *x, FILE *out)
{
    char name[WHY_NAME_SIZE], excess[TEXT_SIZE], since[TEXT_SIZE], off[TEXT_SIZE];
    double percent = 100 * (x->factor - 1);

    fprintf(out, "%s ", why_path_name(why, x->path, name));
    if (x->stage != NO_STAGE)
        fprintf(out, "of stage %u ", x->stage);
    if (isinf(x->factor))
        fprintf(out, "only here");
    else
        fprintf(out, "%+.*f %%%s", percent < 10 ? 1 : 0, percent,
                x->is_more ? " more to do" : "");
    if (x->kernel_factor > 0)
        fprintf(out, ", on its GPU %s %+.0f %%", why->defs->region[x->kernel].short_name,
                100 * (x->kernel_factor - 1));
    fprintf(out, " (%s", text_duration(x->excess_ns, excess));
    if (x->off_ns > 0)
        fprintf(out, " known to within %s", text_duration(x->off_ns, off));
    if (!x->is_more)
        fprintf(out, ", %.0f %% of its calls since %s", 100 * x->share,
                text_duration((double)x->since_ns, since));
    fprintf(out, ")%s", x->is_sure ? "" : " perhaps");
}

void peer_text_paths(const struct why *why, const struct peer_place *place, FILE *out)
{
    for (uint32_t i = 0; i < place->n_paths && i < PEER_TEXT_PATHS; i++) {
        fputs(i > 0 ? ", " : "", out);
        say_path(why, &place->path[i], out);
    }
}
