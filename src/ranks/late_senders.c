/* The worst are kept in order, as they are found. */
#include "ranks/late_senders.h"

static void keep(struct late_senders *out, struct late_sender x)
{
    uint32_t at = out->n_worst;

    out->n++;
    out->sum_ns += x.wait_ns;
    if (at == MAX_LATE_SENDERS && out->worst[at - 1].wait_ns >= x.wait_ns)
        return;
    at -= at == MAX_LATE_SENDERS;
    for (; at > 0 && out->worst[at - 1].wait_ns < x.wait_ns; at--)
        out->worst[at] = out->worst[at - 1];
    out->worst[at] = x;
    out->n_worst += out->n_worst < MAX_LATE_SENDERS;
}

static void look_at(const struct trace_view *view, uint32_t location, const struct message *m,
                    struct late_senders *out)
{
    const struct message *sent = &view->message[m->match];
    uint32_t sender = trace_view_location_of(view, m->match);
    const struct call_view *calls = &view->calls[location], *theirs = &view->calls[sender];
    uint64_t enter, until;

    if (m->call >= calls->n || sent->call >= theirs->n)
        return;
    enter = calls->enter_ns[m->call];
    until = theirs->enter_ns[sent->call];
    if (until > calls_leave(calls, m->call))
        until = calls_leave(calls, m->call);
    if (until > enter)
        keep(out,
             (struct late_sender){view->defs->location[location].rank,
                                  view->defs->location[sender].rank, enter, until - enter});
}

void late_senders_find(const struct trace_view *view, struct late_senders *out)
{
    *out = (struct late_senders){0};
    for (uint32_t l = 0; l < view->n_locations; l++)
        for (size_t i = view->first_message[l]; i < view->first_message[l + 1]; i++) {
            const struct message *m = &view->message[i];

            if (m->kind == MESSAGE_RECV && m->match != MESSAGE_UNMATCHED)
                look_at(view, l, m, out);
        }
}
