#include "compare/look_back.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* Those before it, the oldest first; and whether it is there itself. */
struct choosing {
    const struct look_back *of;
    int64_t *run; /* [n] */
    size_t n, cap;
};

static int choose(void *ctx, const struct history_run *run)
{
    struct choosing *c = ctx;

    if (run->id < c->of->run) {
        mem_grow(&c->run, &c->cap, c->n + 1, sizeof *c->run);
        c->run[c->n++] = run->id;
    }
    return 0;
}

/* The digests of the last ones, and behind them that of the run itself. */
static int load(struct history *history, const struct choosing *c, size_t first,
                struct digest *digest)
{
    const char *foi = c->of->foi;
    int rc = 0;

    for (size_t i = first; i < c->n && rc == 0; i++)
        rc = history_load(history, c->run[i], foi, &digest[i - first]);
    return rc < 0 ? rc : history_load(history, c->of->run, foi, &digest[c->n - first]);
}

int look_back_compare(struct history *history, const struct look_back *of,
                      struct comparison *out)
{
    const struct history_filter filter = {.foi = of->foi, .tags = of->tags};
    const struct compare_opts opts = {.least = NAN};
    struct choosing c = {.of = of};
    struct digest *digest;
    size_t n;
    int rc = history_each(history, &filter, choose, &c);

    *out = (struct comparison){0};
    n = c.n < of->last ? c.n : of->last;
    digest = mem_alloc(n + 1, sizeof *digest);
    if (rc == 0)
        rc = load(history, &c, c.n - n, digest);
    if (rc == 0 && n == 0)
        rc = err_set(ERR_NOT_FOUND, "there is no run before number %lld to compare it with",
                     (long long)of->run);
    if (rc == 0)
        compare_runs(digest, (uint32_t)n, &digest[n], 1, &opts, out);
    for (size_t i = 0; i <= n; i++)
        digest_release(&digest[i]);
    free(digest);
    free(c.run);
    return rc;
}
