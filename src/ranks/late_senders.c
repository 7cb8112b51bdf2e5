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

static struct late_sender wait_of(const struct trace_view *view, uint32_t location,
                                  const struct message *m)
{
    uint32_t sender = trace_view_location_of(view, m->match);
    const struct call_view *calls = &view->calls[location];

    return (struct late_sender){
        view->defs->location[location].rank, view->defs->location[sender].rank,
        m->call < calls->n ? calls->enter_ns[m->call] : 0,
        late_sender_ns(calls, m, &view->calls[sender], &view->message[m->match])};
}

/* Receives of one call follow each other; sends may be between them. */
void late_senders_find(const struct trace_view *view, struct late_senders *out)
{
    *out = (struct late_senders){0};
    for (uint32_t l = 0; l < view->n_locations; l++) {
        struct late_sender last = {0};
        uint32_t call = NO_CALL;

        for (size_t i = view->first_message[l]; i < view->first_message[l + 1]; i++) {
            const struct message *m = &view->message[i];
            struct late_sender x;

            if (m->kind != MESSAGE_RECV || m->match == MESSAGE_UNMATCHED)
                continue;
            x = wait_of(view, l, m);
            if (m->call != call && last.wait_ns > 0)
                keep(out, last);
            if (m->call != call || x.wait_ns > last.wait_ns)
                last = x;
            call = m->call;
        }
        if (last.wait_ns > 0)
            keep(out, last);
    }
}
