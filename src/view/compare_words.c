/* One headline for the terminal, for a pull request, and for the page. */
#include "view/compare_words.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEADLINE_PATHS 3u

double compare_difference(const struct compare_change *x)
{
    return x->ns[COMPARE_AFTER] - x->ns[COMPARE_BEFORE];
}

bool compare_is_one_run(const struct comparison *c)
{
    return c->n_runs[0] == 1 && c->n_runs[1] == 1;
}

bool compare_is_sure(enum compare_verdict verdict)
{
    return verdict != COMPARE_SAME && verdict != COMPARE_UNSURE;
}

/* "caller > function", which says enough where there is space for a line only. */
static const char *last_two(const char *name)
{
    const char *from = name;

    for (const char *at = name, *next; (next = strstr(at, " > ")) != NULL; at = next + 3)
        from = at;
    return from;
}

char *compare_share_text(const struct comparison *c, double ns, char out[TEXT_SIZE])
{
    snprintf(out, TEXT_SIZE, "%+.1f %%", 100 * ns / c->whole.ns[COMPARE_BEFORE]);
    return out;
}

char *compare_time_text(double ns, char out[TEXT_SIZE])
{
    char size[TEXT_SIZE];

    snprintf(out, TEXT_SIZE, "%c%.20s", ns < 0 ? '-' : '+', text_duration(fabs(ns), size));
    return out;
}

static char *say_interval(const struct compare_change *x, char out[TEXT_SIZE])
{
    double before = x->ns[COMPARE_BEFORE];

    if (isnan(x->low_ns) || isinf(x->low_ns) || isinf(x->high_ns) || before == 0)
        snprintf(out, TEXT_SIZE, "unknown");
    else
        snprintf(out, TEXT_SIZE, "%+.1f to %+.1f", 100 * x->low_ns / before,
                 100 * x->high_ns / before);
    return out;
}

/* Where most of a change is matters where there is one. */
bool compare_kind_is_said(const struct compare_path *x)
{
    return x->kind != COMPARE_NONE && compare_is_sure(x->own.verdict) &&
           x->own.verdict != COMPARE_MOVED;
}

static size_t say_path(const struct comparison *c, const struct compare_path *x, char *out,
                       size_t size)
{
    char name[COMPARE_NAME_SIZE], kind[COMPARE_NAME_SIZE], share[TEXT_SIZE];
    double calls = x->calls[COMPARE_AFTER] - x->calls[COMPARE_BEFORE];
    int n = snprintf(out, size, "%.300s %s", last_two(compare_path_name(c, x->path, name)),
                     compare_share_text(c, compare_difference(&x->own), share));

    if (x->own.verdict >= COMPARE_NEW)
        n += snprintf(out + n, size - (size_t)n, ", %s", compare_verdict_name(x->own.verdict));
    else if (fabs(calls) > 0.05 * x->calls[COMPARE_BEFORE])
        n += snprintf(out + n, size - (size_t)n, ", %.3g calls %s", fabs(calls),
                      calls > 0 ? "more" : "fewer");
    if (compare_kind_is_said(x))
        n += snprintf(out + n, size - (size_t)n, ", of it %s %.300s",
                      compare_share_text(c, x->kind_ns, share),
                      compare_kind_name(c, x->kind, kind));
    return (size_t)n;
}

/* Kinds of execution that changed otherwise than all of them did. */
static size_t say_kinds(const struct comparison *c, char *out, size_t size)
{
    char name[COMPARE_NAME_SIZE];
    size_t n = 0;

    for (uint32_t k = 0; k < c->n_kinds; k++) {
        const struct compare_change *x = &c->kind[k].duration;

        if (compare_is_sure(x->verdict) && x->verdict != c->whole.verdict && n + 700 < size)
            n += (size_t)snprintf(out + n, size - n, "; executions %.500s: %+.1f %%, %s",
                                  compare_kind_name(c, k, name), 100 * compare_fraction(x),
                                  compare_verdict_name(x->verdict));
    }
    return n;
}

/* "+12.4 % (95 %: +10.1 to +14.8), slower: a > b +9.1 %, of it +8.8 % with c; ..." */
void compare_headline(const struct comparison *c, char out[COMPARE_HEADLINE_SIZE])
{
    char interval[TEXT_SIZE];
    size_t n = (size_t)snprintf(
        out, COMPARE_HEADLINE_SIZE, "%+.1f %% (95 %%%s: %s), %s",
        100 * compare_fraction(&c->whole), compare_is_one_run(c) ? " within one run" : "",
        say_interval(&c->whole, interval), compare_verdict_name(c->whole.verdict));

    for (uint32_t i = 0; i < c->n_paths && i < HEADLINE_PATHS; i++) {
        if (!compare_is_sure(c->path[i].own.verdict))
            break;
        n += (size_t)snprintf(out + n, COMPARE_HEADLINE_SIZE - n, "%s ", i == 0 ? ":" : ";");
        n += say_path(c, &c->path[i], out + n, COMPARE_HEADLINE_SIZE - n);
    }
    say_kinds(c, out + n, COMPARE_HEADLINE_SIZE - n);
}

/* What is to be known before any of it is believed, a line each. */
/* Long ones from where they begin to differ. */
static void say_facts(const struct comparison *c, void (*say)(void *ctx, const char *text),
                      void *ctx)
{
    static const char *const what[N_DIGEST_FACTS] = {
        [FACT_COMMAND] = "another command line",
        [FACT_NODES] = "other nodes",
        [FACT_PLATFORM] = "another platform",
        [FACT_COMPILER] = "another compiler",
        [FACT_MPI] = "another MPI library",
        [FACT_OPENMP_THREADS] = "another number of OpenMP threads",
        [FACT_TRACER] = "recorded by another tracer",
    };
    char text[512];

    for (int f = 0; f < N_DIGEST_FACTS; f++) {
        const char *was = c->fact[0][f], *is = c->fact[1][f];
        size_t same = 0, room = 100;

        if (was == NULL)
            continue;
        while (was[same] && was[same] == is[same])
            same++;
        same = strlen(was) > room || strlen(is) > room ? (same > 20 ? same - 20 : 0) : 0;
        snprintf(text, sizeof text, "%s: %s (%s%.100s; %s%.100s)",
                 f == FACT_NODES ? "not quite comparable" : "not comparable", what[f],
                 same > 0 ? "..." : "", was + same, same > 0 ? "..." : "", is + same);
        say(ctx, text);
    }
}

void compare_notes(const struct comparison *c, void (*say)(void *ctx, const char *text),
                   void *ctx)
{
    char text[256], name[TEXT_SIZE];

    if (compare_is_one_run(c))
        say(ctx,
            "one run on each side: how much runs differ anyway is not known; several of --base "
            "would tell");
    if (c->whole.off_ns > 0) {
        snprintf(text, sizeof text,
                 "begins and ends of calls are estimates: changes of an execution by less than "
                 "%s cannot be seen",
                 text_duration(c->whole.off_ns, name));
        say(ctx, text);
    }
    if (c->runs_needed > 0) {
        snprintf(text, sizeof text, "about %s runs on each side would tell",
                 text_count(c->runs_needed, name));
        say(ctx, text);
    }
    if (c->has_other_ranks) {
        snprintf(text, sizeof text, "not comparable: other numbers of ranks (%u, %u)",
                 c->n_ranks_of[0], c->n_ranks_of[1]);
        say(ctx, text);
    } else if (c->has_other_locations) {
        snprintf(text, sizeof text, "not comparable: other numbers of threads (%u, %u)",
                 c->n_locations_of[0], c->n_locations_of[1]);
        say(ctx, text);
    }
    say_facts(c, say, ctx);
    if (c->has_other_counts)
        say(ctx, "other numbers of executions: another input, perhaps");
    if (c->unmatched > 0.2) {
        snprintf(text, sizeof text,
                 "%.0f %% of the time is on paths that only one side has: --rename A=B says "
                 "what has another name",
                 100 * c->unmatched);
        say(ctx, text);
    }
    if (c->has_more_moves)
        say(ctx,
            "too many paths are on one side only: not all that were called from elsewhere are "
            "found");
}
