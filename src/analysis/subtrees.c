/* Vectors are not kept but inferred: that takes less than finding the subtrees again. */
#include "analysis/subtrees.h"

#include "base/err.h"

#include <stdlib.h>

#define MAX_WORK 6000000u /* trees times words: some seconds */
#define MIN_WORDS 256u

static int find_tree(const struct forest *f, uint32_t location, uint32_t index, uint32_t *tree)
{
    for (uint32_t t = 0; t < f->n_trees; t++)
        if (f->location[t] == location && f->index[t] == index) {
            *tree = t;
            return 0;
        }
    return err_set(ERR_NOT_FOUND, "location %u has no execution %u", location, index);
}

/* Of a run that has no embedding one is trained while somebody waits: the time it takes is as
 * the product of trees and words. */
static void keep_short(struct scoring *w)
{
    uint32_t most = MAX_WORK / (w->forest.n_trees + 1);

    most = most > MIN_WORDS ? most : MIN_WORDS;
    if (w->embedding.n_words == 0 && w->embedding.opts.most_words > most)
        w->embedding.opts.most_words = most;
}

int subtrees_open(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, struct pool *pool)
{
    struct scoring *w = &s->work;
    int rc = run_scoring_load(w, db, columns, defs, foi, true);

    if (rc == 0) {
        keep_short(w);
        rc = scoring_matrix(w, feature_find("stack2vec"), pool, &s->x);
    }
    if (rc == 0)
        s->input = (struct topsubtrees_input){&w->embedding, s->x, &w->forest, defs, &w->wl, 0};
    return rc;
}

int subtrees_choose(struct subtrees *s, uint32_t location, uint32_t index)
{
    int rc = find_tree(&s->work.forest, location, index, &s->tree);

    if (rc < 0)
        return rc;
    topsubtrees_release(&s->tops);
    topsubtrees_init(&s->tops, &s->input, s->tree);
    return 0;
}

int subtrees_load(struct subtrees *s, sqlite3 *db, const struct columns *columns,
                  const struct definitions *defs, int64_t foi, uint32_t location,
                  uint32_t index, struct pool *pool)
{
    int rc = subtrees_open(s, db, columns, defs, foi, pool);

    return rc < 0 ? rc : subtrees_choose(s, location, index);
}

void subtrees_release(struct subtrees *s)
{
    topsubtrees_release(&s->tops);
    scoring_release(&s->work);
    free(s->x.x);
    *s = (struct subtrees){0};
}
