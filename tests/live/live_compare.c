/*
 * live_compare WHAT A B -- whether two snapshots of parameter servers know the same, by name.
 *
 *     part    the sketches of all functions of A, bit for bit; B may know others
 *     models  ... of all functions of both
 *     ranks   ... and the statistics of ranks: every moment of calls and anomalies per step
 *     all     ... and those of regions
 *
 * Prints what differs first, and ends with 1. Otherwise prints how much was compared.
 */
#include "base/err.h"
#include "ps/ps_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_sketch(const struct sketch *a, const struct sketch *b)
{
    struct pack p = {0}, q = {0};
    bool is_same;

    sketch_pack(a, &p);
    sketch_pack(b, &q);
    is_same = p.n == q.n && memcmp(p.data, q.data, p.n) == 0;
    pack_release(&p);
    pack_release(&q);
    return is_same;
}

static const struct sketch *find_model(const struct ps_snapshot *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_functions; i++)
        if (strcmp(s->function[i], name) == 0)
            return &s->state.sketch[i];
    return NULL;
}

static int differ(const char *what, const char *name)
{
    printf("%s of '%s' differ\n", what, name);
    return 1;
}

static int compare_models(const struct ps_snapshot *a, const struct ps_snapshot *b,
                          bool may_know_others)
{
    uint64_t n_calls = 0;

    if (a->n_functions != b->n_functions && !may_know_others)
        return differ("numbers", "functions");
    for (uint32_t i = 0; i < a->n_functions; i++) {
        const struct sketch *model = find_model(b, a->function[i]);

        if (model == NULL || !same_sketch(&a->state.sketch[i], model))
            return differ("sketches", a->function[i]);
        n_calls += model->n;
    }
    printf("%u models of %llu calls\n", a->n_functions, (unsigned long long)n_calls);
    return n_calls == 0; /* nothing compared is nothing shown */
}

static int compare_stats(const struct ps_snapshot *a, const struct ps_snapshot *b, bool is_all)
{
    long long n_anomalies = 0;
    unsigned n = 0;

    for (uint32_t i = 0; i < a->state.key.n; i++) {
        char *text = strdup(a->state.key.name[i]);
        struct ps_stat_key key = ps_state_split(text);
        uint32_t other = names_find(&b->state.key, a->state.key.name[i]);
        bool is_rank = key.rank != PS_ALL_RANKS, is_looked_at = is_rank || is_all;

        if (is_looked_at && (other == NAMES_NONE ||
                             memcmp(&a->state.stat[i].whole, &b->state.stat[other].whole,
                                    sizeof a->state.stat[i].whole) ||
                             a->state.stat[i].n != b->state.stat[other].n))
            return differ("statistics", text);
        n += is_looked_at;
        if (is_rank && strcmp(key.name, "anomalies") == 0)
            n_anomalies += (long long)a->state.stat[i].whole.sum;
        free(text);
    }
    printf("%u statistics, %lld anomalies\n", n, n_anomalies);
    return n == 0 || n_anomalies == 0;
}

int main(int argc, char **argv)
{
    struct ps_snapshot a, b;
    bool is_part = argc > 1 && strcmp(argv[1], "part") == 0;
    int status;

    if (argc != 4 || ps_snapshot_read(&a, argv[2]) < 0 || ps_snapshot_read(&b, argv[3]) < 0) {
        fprintf(stderr, "live_compare: %s\n", argc == 4 ? err_message() : "WHAT A B");
        return 2;
    }
    status = compare_models(&a, &b, is_part);
    if (status == 0 && !is_part && strcmp(argv[1], "models") != 0)
        status = compare_stats(&a, &b, strcmp(argv[1], "all") == 0);
    ps_snapshot_release(&a);
    ps_snapshot_release(&b);
    return status;
}
