/* snag ad -- strange calls while a program runs. */
#include "base/text.h"
#include "cmd/ad_metrics.h"
#include "cmd/commands.h"
#include "cmd/live_session.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/store_name.h"
#include "cmd/live_totals.h"

#include <stdio.h>

static void print_stored(const struct live_recorder_counts *stored, const char *url)
{
    char anomalies[TEXT_SIZE], late[TEXT_SIZE], normals[TEXT_SIZE], other[TEXT_SIZE];
    const struct prov_counts *n = &stored->store;
    char executions[TEXT_SIZE];

    print("%s of them (%s judged late, without what was around them) and %s normal one%s for "
          "'%s'",
          text_count(n->n_anomalies, anomalies), text_count(n->n_late, late),
          text_count(n->n_normals, normals), text_plural(n->n_normals), url);
    if (stored->is_judged_again)
        print("; %s would be judged otherwise now\n", text_count(stored->n_pruned, other));
    else
        print("; they were not judged again at the end\n");
    if (n->n_executions > 0)
        print("%s strange execution%s and %s normal one%s too\n",
              text_count(n->n_executions, executions), text_plural(n->n_executions),
              text_count(n->n_normal_executions, normals), text_plural(n->n_normal_executions));
    if (n->n_dropped > 0)
        print("%s row%s could not be stored%s%s\n", text_count(n->n_dropped, other),
              text_plural(n->n_dropped), n->why ? ": " : "", n->why ? n->why : "");
}

static void print_text(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);
    char events[TEXT_SIZE], calls[TEXT_SIZE], strange[TEXT_SIZE], other[TEXT_SIZE];

    print("%s: %s calls in %s events, %llu step%s%s\n", s->stream.url,
          text_count(n->n_calls, calls), text_count(n->n_events, events),
          (unsigned long long)s->stream.n_steps, text_plural(s->stream.n_steps),
          s->is_interrupted ? ", interrupted" : "");
    print("%s strange; %s not judged, as there were too few like them\n",
          text_count(live_totals_anomalies(s), strange), text_count(n->n_unjudged, other));
    live_totals_print_slight(s);
    live_totals_print_trees(s);
    reading_print_accesses(&s->stream.accesses);
    if (s->settings->live.store)
        print_stored(&s->stored, s->settings->live.store);
    live_totals_print_reduction(s);
    live_totals_print_wrong(s);
}

static int run(const struct settings *settings)
{
    struct live_session session = {0};
    struct ad_metrics *metrics;
    int rc = ad_metrics_open(&metrics, settings);

    if (rc == 0)
        rc = live_session_open(&session, settings);
    if (rc == 0) {
        ad_metrics_watch(metrics, &session);
        rc = live_session_run(&session);
    }
    if (rc == 0 && settings->is_json)
        print_json(live_totals_json(&session), true);
    else if (rc == 0)
        print_text(&session);
    if (rc == 0 && session.trees && !session.is_interrupted)
        rc = live_trees_check(session.trees, session.stream.defs);
    if (rc == 0)
        rc = live_session_status(&session);
    ad_metrics_close(metrics);
    live_session_close(&session);
    return rc;
}

int cmd_ad(const struct settings *settings)
{
    struct settings found = *settings;
    int rc = store_name_said(&found.live.store);

    return rc < 0 ? rc : live_session_guarded(&found, run);
}
