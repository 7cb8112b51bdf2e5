/*
 * disturb-score -- how many of the disturbances are among those that were found:
 *
 *     disturb-score [--top N] [--show N] TRUTH.csv CANDIDATES.jsonl TRACE.otf2
 *
 * The candidates are lines of JSON, best first, as `snag list --incidents --json` prints them,
 * of which head, rank, begin_ns, end_ns, lost_ns and why are used. A disturbance is found if
 * one of the first N candidates overlaps it in time: on the disturbed rank, or, counted apart,
 * on another, which had to wait for it. All candidates that are given are searched for the
 * place of a disturbance, so that one sees how far down those are that were not found.
 *
 * The truth is in the clock of the trace, the candidates count from where the trace begins;
 * the archive's definitions say when that was. Instead of an archive the number itself may be
 * given, in nanoseconds.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 96
#define INDENT 6 /* of the reasons */

struct disturbance {
    char kind[16];
    long rank;
    uint64_t start_ns, end_ns; /* since the begin of the trace */
    long on_rank, on_other;    /* place of the first candidate, from 1; 0: none */
    long other_rank;
};

struct candidate {
    char *id, *why;
    double lost_ns;
    long rank;
    uint64_t enter_ns, leave_ns;
    long hit; /* the disturbance it overlaps, from 1; 0: none */
};

struct list {
    struct disturbance *disturbance;
    struct candidate *candidate;
    long n_disturbances, n_candidates;
    long top;  /* so many candidates count */
    long show; /* and so many are printed */
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

/* The value of a member of the object itself, not of what is nested in it; NULL: no such. */
static const char *find_value(const char *object, const char *key)
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
            return at + 1 + strspn(at + 1, " \t");
    }
    return NULL;
}

static bool find_number(const char *object, const char *key, double *number)
{
    const char *value = find_value(object, key);

    return value && sscanf(value, "%lf", number) == 1;
}

/* A text without its quotes and backslashes, "" if there is none; the caller's to free. */
static char *find_text(const char *object, const char *key)
{
    const char *value = find_value(object, key), *end;
    char *text = grow(NULL, (long)strlen(object), 1), *to = text;

    if (value && *value == '"') {
        end = skip_string(value) - 1;
        for (const char *at = value + 1; at < end; at++) {
            at += *at == '\\' && at + 1 < end;
            *to++ = *at;
        }
    }
    *to = '\0';
    return text;
}

static void read_candidates(struct list *l, const char *path)
{
    FILE *file = open_file(path);
    char *line = NULL;
    size_t cap = 0;

    while (getline(&line, &cap, file) >= 0) {
        double rank, begin_ns, end_ns, lost_ns;

        if (line[strspn(line, " \t\r\n")] == '\0')
            continue;
        if (!find_number(line, "rank", &rank) || !find_number(line, "begin_ns", &begin_ns) ||
            !find_number(line, "end_ns", &end_ns))
            fail("'%s': no rank, begin_ns or end_ns: %.200s", path, line);
        l->candidate = grow(l->candidate, l->n_candidates, sizeof *l->candidate);
        l->candidate[l->n_candidates++] =
            (struct candidate){.id = find_text(line, "head"),
                               .why = find_text(line, "why"),
                               .lost_ns = find_number(line, "lost_ns", &lost_ns) ? lost_ns : 0,
                               .rank = (long)rank,
                               .enter_ns = (uint64_t)begin_ns,
                               .leave_ns = (uint64_t)end_ns};
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
            if (c->hit == 0)
                c->hit = i + 1;
            if (c->rank == d->rank) {
                d->on_rank = k + 1;
            } else {
                d->on_other = k + 1;
                d->other_rank = c->rank;
            }
        }
    }
}

/* The words of a text, in lines that are not too long. */
static void print_wrapped(const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");

        bool is_first = column == 0 || column + 1 + length > MAX_COLUMNS;

        if (is_first)
            printf("%s%*s", column ? "\n" : "", INDENT, "");
        column = is_first ? INDENT + length : column + 1 + length;
        printf("%s%.*s", is_first ? "" : " ", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    printf("\n");
}

static void print_candidate(const struct list *l, long i)
{
    const struct candidate *c = &l->candidate[i];
    const struct disturbance *d = &l->disturbance[c->hit > 0 ? c->hit - 1 : 0];

    printf("%4ld  %-9s %7.1f ms lost  ", i + 1, c->id, 1e-6 * c->lost_ns);
    if (c->hit > 0)
        printf("while disturbed: %s of rank %ld, %.1f ms\n", d->kind, d->rank,
               1e-6 * (double)(d->end_ns - d->start_ns));
    else
        printf("not disturbed\n");
    if (*c->why)
        print_wrapped(c->why);
}

static long best_place(const struct disturbance *d)
{
    if (d->on_rank && d->on_other)
        return d->on_rank < d->on_other ? d->on_rank : d->on_other;
    return d->on_rank ? d->on_rank : d->on_other;
}

static bool is_among(long place, long top)
{
    return place > 0 && place <= top;
}

static void print_row(const struct list *l, long i)
{
    const struct disturbance *d = &l->disturbance[i];
    long place = best_place(d);

    printf("%4ld  %-4s  %4ld  %9.3f  %6.1f  ", i + 1, d->kind, d->rank,
           1e-9 * (double)d->start_ns, 1e-6 * (double)(d->end_ns - d->start_ns));
    if (place == 0)
        printf("%7s\n", "-");
    else if (place == d->on_rank)
        printf("%7ld%s\n", place, place <= l->top ? "" : "  not found");
    else
        printf("%7ld%s, on rank %ld\n", place, place <= l->top ? "" : "  not found",
               d->other_rank);
}

/* How many of one kind were found; NULL: of all. */
static void print_count(const struct list *l, const char *kind)
{
    long n = 0, on_rank = 0, on_other = 0;

    for (long i = 0; i < l->n_disturbances; i++) {
        const struct disturbance *d = &l->disturbance[i];
        bool is_on_rank = is_among(d->on_rank, l->top);

        if (kind && strcmp(kind, d->kind) != 0)
            continue;
        n++;
        on_rank += is_on_rank;
        on_other += !is_on_rank && is_among(d->on_other, l->top);
    }
    if (n > 0 && kind)
        printf("  %s: %ld of %ld, %ld on the disturbed rank, %ld only on one that waited\n",
               kind, on_rank + on_other, n, on_rank, on_other);
    else if (kind == NULL)
        printf("%ld of %ld disturbances are among the first %ld of %ld incidents\n",
               on_rank + on_other, n, l->top, l->n_candidates);
}

static void print_result(const struct list *l)
{
    long hits = 0;

    for (long i = 0; i < l->show; i++)
        print_candidate(l, i);
    if (l->show > 0)
        printf("\n");
    printf("%4s  %-4s  %4s  %9s  %6s  %7s\n", "", "kind", "rank", "at s", "ms", "place");
    for (long i = 0; i < l->n_disturbances; i++)
        print_row(l, i);
    for (long i = 0; i < l->top; i++)
        hits += l->candidate[i].hit > 0;
    print_count(l, NULL);
    print_count(l, "stop");
    print_count(l, "load");
    printf("%ld of these %ld incidents overlap a disturbance\n", hits, l->top);
}

/* ---------------------------------------------------------------------------------- options */

static const char usage[] =
    "usage: disturb-score [options] TRUTH.csv CANDIDATES.jsonl TRACE.otf2|OFFSET_NS\n"
    "  --top N    candidates that count (default: all that are given)\n"
    "  --show N   candidates to print, with their reasons (default 0)\n";

static const struct option long_options[] = {
    {"top", required_argument, NULL, 't'},
    {"show", required_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

static long whole_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || *end != '\0' || number < 0)
        fail("not a number: '%s'", text);
    return number;
}

static long at_most(long number, long most)
{
    return number < most ? number : most;
}

static void release(struct list *l)
{
    for (long i = 0; i < l->n_candidates; i++) {
        free(l->candidate[i].id);
        free(l->candidate[i].why);
    }
    free(l->disturbance);
    free(l->candidate);
}

int main(int argc, char **argv)
{
    struct list l = {.top = LONG_MAX};
    int letter;

    while ((letter = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
        if (letter == '?') {
            fputs(usage, stderr);
            return 2;
        }
        *(letter == 't' ? &l.top : &l.show) = whole_number(optarg);
    }
    if (argc - optind != 3) {
        fputs(usage, stderr);
        return 2;
    }
    read_truth(&l, argv[optind], origin_of(argv[optind + 2]));
    read_candidates(&l, argv[optind + 1]);
    l.top = at_most(l.top, l.n_candidates);
    l.show = at_most(l.show, l.n_candidates);
    match(&l);
    print_result(&l);
    release(&l);
    return 0;
}
