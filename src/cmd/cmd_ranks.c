/* snag ranks -- who is slow in every execution, who has more to do, and who waits for them. */
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/rank_table.h"
#include "cmd/selection.h"
#include "cmd/status.h"
#include "view/executions.h"
#include "view/ranks_json.h"

#include <stdlib.h>

#define USUAL_TOP 10u
#define MAX_OPERATIONS 6u

struct ranks {
    const struct settings *settings;
    struct run run;
    struct rank_table table;
};

static void print_operations(const struct ranks *r)
{
    const struct peers *peers = &r->table.peers;
    uint32_t most = r->settings->is_all ? peers->n_operations : MAX_OPERATIONS;
    struct table *table = table_new("lrr", "operation", "time", "makes the run longer by");
    char time[TEXT_SIZE];

    for (uint32_t i = 0; i < peers->n_operations && i < most; i++) {
        const struct peer_operation *x = &peers->operation[i];

        table_cell(table, "%s", r->run.defs.region[x->region].short_name);
        table_cell(table, "%s", text_duration(x->sum_ns, time));
        table_cell(table, "%.1f %%", 100 * (x->slowdown - 1));
    }
    print("\nwould every operation take what is usual for its kind, the run would be %.1f %% "
          "shorter (a slowdown of %.3f)\n\n",
          100 * (1 - 1 / peers->slowdown), peers->slowdown);
    table_print(table, stdout);
}

static void print_text(const struct ranks *r)
{
    const struct settings *s = r->settings;
    uint32_t most = s->is_all ? UINT32_MAX : s->top ? s->top : USUAL_TOP, n_more;
    struct table *table = rank_table_places(&r->table, most, &n_more);
    char *headline = rank_table_headline(&r->table);

    print("%s\n\n", headline);
    table_print(table, stdout);
    if (n_more > 0)
        print("and %u more\n", n_more);
    if (r->table.peers.n_operations > 0)
        print_operations(r);
    free(headline);
}

static int load(struct ranks *r)
{
    const struct settings *s = r->settings;
    int64_t foi;
    int rc = selection_open(&r->run, s);

    if (rc == 0)
        rc = executions_foi(r->run.db, s->foi.n > 0 ? s->foi.text[0] : NULL, &foi);
    return rc == 0 ? rank_table_load(&r->table, &r->run, foi, s->by) : rc;
}

int cmd_ranks(const struct settings *settings)
{
    struct ranks r = {.settings = settings};
    struct rank_table *table = &r.table;
    int rc = load(&r);

    if (rc == 0 && settings->is_json)
        print_json(ranks_to_json(&table->scoring, &table->why, &table->peers, 0), true);
    else if (rc == 0)
        print_text(&r);
    rank_table_release(table);
    run_close(&r.run);
    return rc < 0 ? rc : STATUS_DONE;
}
