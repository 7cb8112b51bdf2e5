/*
 * disturb-score -- how many of the disturbances are among the candidates that were found:
 *
 *     disturb-score TRUTH.csv CANDIDATES.jsonl TRACE.otf2
 *
 * The candidates are lines of JSON, best first, as `snag list --json` prints them, of which
 * rank, enter_ns and duration_ns are used. A disturbance is found if a candidate overlaps it
 * in time: on the disturbed rank, or, counted apart, on another, which had to wait for it.
 *
 * The truth is in the clock of the trace, the candidates count from where the trace begins;
 * the archive's definitions say when that was. Instead of an archive the number itself may be
 * given, in nanoseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct disturbance {
    char kind[16];
    long rank;
    uint64_t start_ns, end_ns; /* since the begin of the trace */
    long on_rank, on_other;    /* place of the first candidate, from 1; 0: none */
    long other_rank;
};

struct candidate {
    long rank;
    uint64_t enter_ns, leave_ns;
    bool is_hit; /* overlaps a disturbance */
};

struct list {
    struct disturbance *disturbance;
    struct candidate *candidate;
    long n_disturbances, n_candidates;
};

static void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "disturb-score: ");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n");
    exit(1);
}

static void *grow(void *old, long n, size_t width)
{
    void *grown = reallocarray(old, (size_t)n + 1, width);

    if (grown == NULL)
        fail("out of memory");
    return grown;
}

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        fail("cannot read '%s': %s", path, strerror(errno));
    return file;
}

/* ------------------------------------------------------------------------ where time begins */

static OTF2_CallbackCode on_clock(void *arg, uint64_t resolution, uint64_t offset,
                                  uint64_t length, uint64_t realtime)
{
    (void)resolution, (void)length, (void)realtime;
    *(uint64_t *)arg = offset;
    return OTF2_CALLBACK_SUCCESS;
}

static uint64_t read_origin(const char *archive)
{
    OTF2_Reader *reader = OTF2_Reader_Open(archive);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReader *defs;
    uint64_t origin_ns = 0, n;

    if (reader == NULL || OTF2_Reader_SetSerialCollectiveCallbacks(reader) != OTF2_SUCCESS)
        fail("cannot read archive '%s'", archive);
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    defs = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, callbacks, &origin_ns);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    OTF2_Reader_ReadAllGlobalDefinitions(reader, defs, &n);
    OTF2_Reader_Close(reader);
    return origin_ns;
}

static uint64_t origin_of(const char *text)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);

    return end != text && *end == '\0' ? number : read_origin(text);
}

/* ---------------------------------------------------------------------------------- reading */

static void read_truth(struct list *l, const char *path, uint64_t origin_ns)
{
    FILE *file = open_file(path);
    char line[256];

    while (fgets(line, sizeof line, file)) {
        struct disturbance d = {0};

        if (strncmp(line, "kind,", 5) == 0)
            continue;
        if (sscanf(line, "%15[^,],%ld,%" SCNu64 ",%" SCNu64, d.kind, &d.rank, &d.start_ns,
                   &d.end_ns) != 4 ||
            d.start_ns < origin_ns || d.end_ns < d.start_ns)
            fail("'%s': not a disturbance of this trace: %s", path, line);
        d.start_ns -= origin_ns;
        d.end_ns -= origin_ns;
        l->disturbance = grow(l->disturbance, l->n_disturbances, sizeof d);
        l->disturbance[l->n_disturbances++] = d;
    }
    fclose(file);
}

/* Past a string that starts at its opening quote. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* The number of a member of the object itself, not of what is nested in it. */
static bool find_number(const char *object, const char *key, double *number)
{
    size_t length = strlen(key);
    int depth = 0;

    for (const char *at = object; *at;) {
        const char *begin = at;

        if (*at == '{' || *at == '[')
            depth++;
        if (*at == '}' || *at == ']')
            depth--;
        if (*at != '"') {
            at++;
            continue;
        }
        at = skip_string(at);
        if (depth != 1 || (size_t)(at - begin) != length + 2 ||
            strncmp(begin + 1, key, length) != 0)
            continue;
        at += strspn(at, " \t");
        if (*at == ':')
            return sscanf(at + 1, "%lf", number) == 1;
    }
    return false;
}

static void read_candidates(struct list *l, const char *path)
{
    FILE *file = open_file(path);
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, file) >= 0) {
        double rank, enter_ns, duration_ns;

        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        if (!find_number(line, "rank", &rank) || !find_number(line, "enter_ns", &enter_ns) ||
            !find_number(line, "duration_ns", &duration_ns))
            fail("'%s': no rank, enter_ns or duration_ns: %.200s", path, line);
        l->candidate = grow(l->candidate, l->n_candidates, sizeof *l->candidate);
        l->candidate[l->n_candidates++] =
            (struct candidate){.rank = (long)rank,
                               .enter_ns = (uint64_t)enter_ns,
                               .leave_ns = (uint64_t)(enter_ns + duration_ns)};
    }
    free(line);
    fclose(file);
}

/* ------------------------------------------------------------------------------- the result */

static void match(struct list *l)
{
    for (long i = 0; i < l->n_disturbances; i++) {
        struct disturbance *d = &l->disturbance[i];

        for (long k = l->n_candidates; k-- > 0;) { /* backwards: the first place remains */
            struct candidate *c = &l->candidate[k];

            if (c->enter_ns >= d->end_ns || c->leave_ns <= d->start_ns)
                continue;
            c->is_hit = true;
            if (c->rank == d->rank) {
                d->on_rank = k + 1;
            } else {
                d->on_other = k + 1;
                d->other_rank = c->rank;
            }
        }
    }
}

static void print_row(long i, const struct disturbance *d)
{
    printf("%4ld  %-4s  %4ld  %9.3f  %6.1f  ", i + 1, d->kind, d->rank,
           1e-9 * (double)d->start_ns, 1e-6 * (double)(d->end_ns - d->start_ns));
    if (d->on_rank)
        printf("candidate %ld\n", d->on_rank);
    else if (d->on_other)
        printf("candidate %ld, on rank %ld\n", d->on_other, d->other_rank);
    else
        printf("-\n");
}

/* How many of one kind were found; NULL: of all. */
static void print_count(const struct list *l, const char *kind)
{
    long n = 0, on_rank = 0, on_other = 0;

    for (long i = 0; i < l->n_disturbances; i++) {
        const struct disturbance *d = &l->disturbance[i];

        if (kind && strcmp(kind, d->kind) != 0)
            continue;
        n++;
        on_rank += d->on_rank > 0;
        on_other += d->on_rank == 0 && d->on_other > 0;
    }
    if (n > 0 && kind)
        printf("  %s: %ld of %ld, %ld on the disturbed rank, %ld only on one that waited\n",
               kind, on_rank + on_other, n, on_rank, on_other);
    else if (kind == NULL)
        printf("%ld of %ld disturbances are among the first %ld candidates\n",
               on_rank + on_other, n, l->n_candidates);
}

static void print_result(const struct list *l)
{
    long hits = 0;

    printf("%4s  %-4s  %4s  %9s  %6s  %s\n", "", "kind", "rank", "at s", "ms", "found");
    for (long i = 0; i < l->n_disturbances; i++)
        print_row(i, &l->disturbance[i]);
    for (long i = 0; i < l->n_candidates; i++)
        hits += l->candidate[i].is_hit;
    print_count(l, NULL);
    print_count(l, "stop");
    print_count(l, "load");
    printf("%ld of the %ld candidates overlap a disturbance\n", hits, l->n_candidates);
}

int main(int argc, char **argv)
{
    struct list l = {0};

    if (argc != 4) {
        fprintf(stderr,
                "usage: disturb-score TRUTH.csv CANDIDATES.jsonl TRACE.otf2|OFFSET_NS\n");
        return 2;
    }
    read_truth(&l, argv[1], origin_of(argv[3]));
    read_candidates(&l, argv[2]);
    match(&l);
    print_result(&l);
    free(l.disturbance);
    free(l.candidate);
    return 0;
}
