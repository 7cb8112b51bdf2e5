/* Recursive descent; the depth of brackets is bounded, as they come from the command line. */
#include "trace/synth/synth_program.h"

#include "base/err.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 200
#define MAX_RANKS 100000
#define MAX_THREADS 64
#define TYPICAL_THREADS 4
#define N_SETTINGS 10
#define MAX_FACTOR 1e6 /* by which a call is slow */

struct parser {
    const char *text; /* all of it */
    const char *at;
    struct definitions *defs;
    struct arena *arena;
    int depth;
    bool is_in_team, has_teams;
};

static int complain(const struct parser *p, const char *what)
{
    if (*p->at == '\0')
        return err_set(ERR_FORMAT, "synth: %s at the end of '%s'", what, p->text);
    return err_set(ERR_FORMAT, "synth: %s at '%.20s' (character %zu)", what, p->at,
                   (size_t)(p->at - p->text) + 1);
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '~' || c == '.';
}

static int parse_count(struct parser *p, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(p->at, &end, 10);
    if (end == p->at || errno != 0 || !isdigit((unsigned char)*p->at))
        return complain(p, "a number is missing");
    p->at = end;
    return 0;
}

static int parse_real(struct parser *p, double *out)
{
    char *end;

    *out = strtod(p->at, &end);
    if (end == p->at || !isfinite(*out))
        return complain(p, "a number is missing");
    p->at = end;
    return 0;
}

static int parse_duration(struct parser *p, double *out)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    int rc = parse_real(p, out);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].unit);

        if (strncmp(p->at, units[i].unit, length) == 0 && !is_name(p->at[length])) {
            p->at += length;
            *out *= units[i].ns;
            return *out < 0 || *out > 1e18 ? complain(p, "impossible time before") : 0;
        }
    }
    return complain(p, "a unit (ns, us, ms, s) is missing");
}

static uint32_t parse_name(struct parser *p)
{
    const char *from = p->at;
    char *name;
    size_t length;

    while (is_name(*p->at))
        p->at++;
    length = (size_t)(p->at - from);
    name = arena_array(p->arena, char, length + 1);
    memcpy(name, from, length);
    name[length] = '\0';
    return definitions_region(p->defs, name);
}

static int parse_items(struct parser *p, struct synth_item **out);

/* "12*" and "3:" in front of an item. */
static int parse_prefixes(struct parser *p, struct synth_item *item)
{
    while (isdigit((unsigned char)*p->at)) {
        uint64_t n;
        int rc = parse_count(p, &n);

        if (rc < 0)
            return rc;
        if (*p->at == '*' && n >= 1)
            item->n_times = n;
        else if (*p->at == ':' && n < MAX_RANKS)
            item->only_rank = (uint32_t)n;
        else
            return complain(p, "'*' or ':' expected");
        p->at++;
    }
    return 0;
}

static int parse_team(struct parser *p, struct synth_item *item)
{
    int rc;

    if (p->is_in_team)
        return complain(p, "a team in a team");
    p->at++;
    item->kind = SYNTH_TEAM;
    p->is_in_team = p->has_teams = true;
    rc = parse_items(p, &item->inside);
    p->is_in_team = false;
    if (rc == 0 && *p->at != ']')
        rc = complain(p, "']' is missing");
    p->at += rc == 0;
    return rc;
}

static int parse_call(struct parser *p, struct synth_item *item)
{
    int rc = 0;

    if (!is_name(*p->at))
        return complain(p, "a name is missing");
    item->region = parse_name(p);
    if (*p->at == '@') {
        p->at++;
        rc = parse_duration(p, &item->own_ns);
    }
    if (rc == 0 && *p->at == '(') {
        p->at++;
        rc = parse_items(p, &item->inside);
        if (rc == 0 && *p->at != ')')
            rc = complain(p, "')' is missing");
        p->at += rc == 0;
    } else if (rc == 0 && *p->at == '[') {
        rc = parse_team(p, item);
    }
    return rc;
}

static int parse_item(struct parser *p, struct synth_item *item)
{
    static const char *const region[] = {"", "", "MPI_Send", "MPI_Recv", "MPI_Barrier"};
    int rc = parse_prefixes(p, item);
    uint64_t shift = 0;

    if (rc < 0)
        return rc;
    item->kind = *p->at == '>'   ? SYNTH_SEND
                 : *p->at == '<' ? SYNTH_RECV
                 : *p->at == '|' ? SYNTH_BARRIER
                                 : SYNTH_CALL;
    if (item->kind == SYNTH_CALL)
        return parse_call(p, item);
    if (p->is_in_team)
        return complain(p, "no call in a team");
    p->at++;
    if (item->kind != SYNTH_BARRIER) {
        rc = parse_count(p, &shift);
        if (rc == 0 && shift > MAX_RANKS)
            rc = complain(p, "too far before");
    }
    item->shift = (uint32_t)shift;
    item->region = definitions_region(p->defs, region[item->kind]);
    return rc;
}

static int parse_items(struct parser *p, struct synth_item **out)
{
    if (++p->depth > DEEPEST)
        return complain(p, "brackets too deep");
    for (;;) {
        int rc;

        while (*p->at == ' ')
            p->at++;
        if (*p->at == '\0' || *p->at == ')' || *p->at == ']' || *p->at == ';')
            break;
        *out = arena_zeros(p->arena, struct synth_item, 1);
        **out = (struct synth_item){.n_times = 1, .own_ns = 1000, .only_rank = NO_RANK};
        rc = parse_item(p, *out);
        if (rc < 0)
            return rc;
        out = &(*out)->after;
    }
    p->depth--;
    return 0;
}

/* It may be the end of the text that is there in its place. */
static bool take_slash(struct parser *p)
{
    bool is_there = *p->at == '/';

    p->at += is_there;
    return is_there;
}

static int parse_factor(struct parser *p, double *factor)
{
    int rc = parse_real(p, factor);

    if (rc == 0 && !(*factor >= 0 && *factor <= MAX_FACTOR))
        rc = complain(p, "a number from 0 to 1,000,000 expected before");
    return rc;
}

/* Behind a slash: on this rank alone, and on this thread of it. */
static int parse_only(struct parser *p, struct synth_slow *slow)
{
    uint64_t rank, thread = NO_RANK;
    int rc;

    if (*p->at != '/')
        return 0;
    p->at++;
    rc = parse_count(p, &rank);
    if (rc == 0 && *p->at == '.') {
        p->at++;
        rc = parse_count(p, &thread);
    }
    slow->only_rank = (uint32_t)rank;
    slow->only_thread = (uint32_t)thread;
    return rc;
}

static struct synth_slow *add_slow(struct parser *p, struct synth_program *program)
{
    struct synth_slow *slow = arena_zeros(p->arena, struct synth_slow, 1);

    *slow = (struct synth_slow){.region = parse_name(p),
                                .every = 1,
                                .factor = 1,
                                .only_rank = NO_RANK,
                                .only_thread = NO_RANK,
                                .after = program->slow};
    program->slow = slow;
    return slow;
}

static int parse_slow(struct parser *p, struct synth_program *program)
{
    struct synth_slow *slow = add_slow(p, program);
    int rc;

    if (!take_slash(p))
        return complain(p, "name/every/factor expected before");
    rc = parse_count(p, &slow->every);
    if (rc == 0 && (slow->every == 0 || !take_slash(p)))
        rc = complain(p, "name/every/factor expected before");
    if (rc == 0)
        rc = parse_factor(p, &slow->factor);
    return rc == 0 ? parse_only(p, slow) : rc;
}

static int parse_grow(struct parser *p, struct synth_program *program)
{
    struct synth_slow *slow = add_slow(p, program);
    int rc;

    if (!take_slash(p))
        return complain(p, "name/growth expected before");
    rc = parse_factor(p, &slow->growth);
    return rc == 0 ? parse_only(p, slow) : rc;
}

static int parse_off(struct parser *p, struct synth_program *program)
{
    struct synth_off *off = arena_zeros(p->arena, struct synth_off, 1);

    *off = (struct synth_off){.region = parse_name(p), .after = program->off};
    if (!take_slash(p))
        return complain(p, "name/time expected before");
    program->off = off;
    return parse_duration(p, &off->ns);
}

static int parse_shape(struct parser *p, enum synth_shape *shape)
{
    static const char *const names[] = {"normal", "exponential", "mixed"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(p->at, names[i], strlen(names[i])) == 0) {
            *shape = (enum synth_shape)i;
            p->at += strlen(names[i]);
            return 0;
        }
    return complain(p, "normal, exponential or mixed expected");
}

static int parse_setting(struct parser *p, struct synth_program *program)
{
    static const char *const names[N_SETTINGS] = {
        "ranks=",   "jitter=", "seed=", "slow=",  "skew=",
        "threads=", "drift=",  "off=",  "shape=", "grow="};
    size_t which = 0;
    uint64_t n;
    int rc;

    while (which < N_SETTINGS && strncmp(p->at, names[which], strlen(names[which])) != 0)
        which++;
    if (which == N_SETTINGS)
        return complain(p, "unknown setting");
    p->at += strlen(names[which]);
    switch (which) {
    case 0:
        rc = parse_count(p, &n);
        if (rc == 0 && (n < 1 || n > MAX_RANKS))
            rc = complain(p, "an impossible number of ranks");
        program->n_ranks = (uint32_t)n;
        return rc;
    case 1:
        return parse_real(p, &program->jitter);
    case 2:
        return parse_count(p, &program->seed);
    case 3:
        return parse_slow(p, program);
    case 4:
        return parse_duration(p, &program->skew_ns);
    case 5:
        rc = parse_count(p, &n);
        if (rc == 0 && (n < 1 || n > MAX_THREADS))
            rc = complain(p, "an impossible number of threads");
        program->n_threads = (uint32_t)n;
        return rc;
    case 6:
        return parse_real(p, &program->drift_ppm);
    case 7:
        return parse_off(p, program);
    case 8:
        return parse_shape(p, &program->shape);
    default:
        return parse_grow(p, program);
    }
}

int synth_parse(const char *text, struct synth_program *program, struct definitions *defs,
                struct arena *arena)
{
    struct parser p = {.text = text, .at = text, .defs = defs, .arena = arena};
    int rc;

    *program = (struct synth_program){.n_ranks = 1, .n_threads = TYPICAL_THREADS, .seed = 1};
    rc = parse_items(&p, &program->first);
    while (rc == 0 && *p.at == ';') {
        p.at++;
        rc = parse_setting(&p, program);
    }
    if (rc == 0 && *p.at != '\0')
        rc = complain(&p, "end expected");
    if (rc == 0 && program->first == NULL)
        rc = complain(&p, "no items");
    if (!p.has_teams)
        program->n_threads = 1;
    else
        program->barrier = definitions_region(defs, "omp_implicit_barrier");
    return rc;
}
