/*
 * The keys that a record tells are hashed when it comes by, the others, which its thread tells,
 * at the end. Ends with one key are a group:
 *
 *     group:  [ sends | receives | of member 0: collectives, sizes | of member 1: ... ]
 *
 * each part in order of time. The i-th send goes to the i-th receive, the i-th collectives of
 * all members are one; a member that has fewer than another has lost them at its beginning or
 * end, which its times tell. Groups of one label with the same members share a communicator.
 */
#include "trace/chrome/links.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/text.h"
#include "base/xxh.h"
#include "trace/chrome/marks.h"
#include "trace/chrome/meetings.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_SIZE 256 /* bytes of one value that count */
#define MAX_MEMBERS 10000000
#define LABEL_PLACE UINT32_MAX /* among the keys of a rule */
#define STREAM_PLACE (UINT32_MAX - 1)
#define ORDER_PLACE (UINT32_MAX - 2)

struct link_end {
    struct link link;
    uint32_t rule, thread, region;
    struct key key;  /* of what the record says; then of everything */
    uint32_t group;  /* number of the key */
    uint32_t member; /* 0 for the ends of messages */
    int64_t time_ns, end_ns;
    bool is_unnamed; /* no key says which group of ranks it is of */
};

/* The rules that fit the name of a region, whatever the arguments. */
struct region_rules {
    uint32_t *rule; /* [n] in their order */
    size_t n, cap;
    bool is_known;
};

struct links {
    const struct link_rules *rules;
    struct region_rules *of_region; /* [n_regions] */
    size_t n_regions, region_cap;
    struct link_end *end; /* [n] */
    size_t n, cap;
};

struct links *links_new(const struct link_rules *rules)
{
    struct links *links = mem_alloc(1, sizeof *links);

    links->rules = rules;
    return links;
}

void links_free(struct links *links)
{
    if (links == NULL)
        return;
    for (size_t i = 0; i < links->n_regions; i++)
        free(links->of_region[i].rule);
    free(links->of_region);
    free(links->end);
    free(links);
}

/* ------------------------------------------------------------------------- adding */

/* The elements of a list as "[[12,3],[4]]", those of the first inner list multiplied. */
static uint64_t count_in(const char *text)
{
    uint64_t product = 1;
    bool is_any = false;

    for (const char *at = text; *at && (*at != ']' || !is_any);) {
        char *end;
        uint64_t value;

        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        value = strtoull(at, &end, 10);
        if (value > 0 && product > UINT64_MAX / 64 / value)
            return 0;
        product *= value;
        is_any = true;
        at = end;
    }
    return is_any ? product : 0;
}

/* Bytes of a type as NCCL, PyTorch and C call it; 1 for a name that is none. */
static uint64_t type_size(const char *name)
{
    static const struct {
        const char *name;
        uint64_t size;
    } known[] = {
        {"float64", 8}, {"double", 8},  {"int64", 8},    {"uint64", 8}, {"long", 8},
        {"float8", 1},  {"float16", 2}, {"bfloat16", 2}, {"half", 2},   {"short", 2},
        {"int16", 2},   {"uint16", 2},  {"float32", 4},  {"float", 4},  {"int32", 4},
        {"uint32", 4},  {"uint8", 1},   {"int8", 1},     {"int", 4},    {"unsigned int", 4},
    };

    name += *name == '[';
    name += strncmp(name, "c10::", 5) == 0 ? 5 : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncasecmp(name, known[i].name, strlen(known[i].name)) == 0)
            return known[i].size;
    return 1;
}

static uint64_t bytes_of(const struct chrome_record *r, const struct link_bytes *bytes)
{
    uint64_t n;

    if (bytes->arg == LINK_NO_ARG || !r->arg[bytes->arg].is_set)
        return 0;
    n = count_in(r->arg[bytes->arg].text);
    if (bytes->type != LINK_NO_ARG && r->arg[bytes->type].is_set)
        n *= type_size(r->arg[bytes->type].text);
    return n;
}

static uint32_t members_of(const struct chrome_record *r, const struct link_bytes *members)
{
    uint64_t n = bytes_of(r, members);

    return n < MAX_MEMBERS ? (uint32_t)n : 0;
}

/* The text of a value with `plus` added, if it is a number. */
static void print_value(char out[KEY_SIZE], const char *text, int64_t plus)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    if (plus != 0 && end > text && *end == '\0')
        snprintf(out, KEY_SIZE, "%lld", (long long)((uint64_t)value + (uint64_t)plus));
    else
        snprintf(out, KEY_SIZE, "%.*s", KEY_SIZE - 1, text);
}

/* Adds the value of one place to a key: which come first does not matter. */
static void mix(struct key *key, uint32_t place, const char *value)
{
    char text[sizeof place + KEY_SIZE];
    size_t n = strlen(value);
    XXH128_hash_t hash;

    memcpy(text, &place, sizeof place);
    memcpy(text + sizeof place, value, n);
    hash = XXH3_128bits(text, sizeof place + n);
    key->high += hash.high64;
    key->low += hash.low64;
}

/*
 * What a record tells of the i-th key of its rule, if anything. False when the rule is not for
 * this record. Conditions have no place among the keys.
 */
static bool mix_key(struct key *key, const struct link_rule *rule, uint32_t i,
                    const struct chrome_record *r, const struct link_call *call)
{
    const struct link_key *k = &rule->key[i];
    const struct chrome_arg *arg = k->kind == LINK_ARG ? &r->arg[k->arg] : NULL;
    char value[KEY_SIZE] = "";

    if (k->wanted)
        return arg->is_set && fnmatch(k->wanted, arg->text, 0) == 0;
    if (arg) {
        if (!arg->is_set && !k->may_be_missing)
            return false;
        print_value(value, arg->is_set ? arg->text : "", k->plus);
        mix(key, k->place, value);
    } else if (k->kind == LINK_PID || k->kind == LINK_TID) {
        uint64_t id = (k->kind == LINK_PID ? call->pid : call->tid) + (uint64_t)k->plus;

        snprintf(value, sizeof value, "%llu", (unsigned long long)id);
        mix(key, k->place, value);
    }
    return true;
}

static bool is_order(enum link_what what)
{
    return what == LINK_BEFORE || what == LINK_AFTER;
}

static bool fits(const struct link_rule *rule, const struct chrome_record *r,
                 const struct link_call *call, struct key *key)
{
    *key = (struct key){0};
    mix(key, LABEL_PLACE, rule->label);
    if (is_order(rule->what)) /* a label may be used for both */
        mix(key, ORDER_PLACE, "");
    for (uint32_t i = 0; i < rule->n_keys; i++)
        if (!mix_key(key, rule, i, r, call))
            return false;
    return true;
}

static bool is_unnamed(const struct link_rule *rule, const struct chrome_record *r)
{
    for (uint32_t i = 0; i < rule->n_keys; i++)
        if (rule->key[i].kind != LINK_ARG || r->arg[rule->key[i].arg].is_set)
            return false;
    return rule->is_each_rank && rule->what == LINK_COLLECTIVE;
}

static const struct region_rules *rules_of(struct links *links, const struct link_call *call)
{
    struct region_rules *of;

    mem_grow(&links->of_region, &links->region_cap, (size_t)call->region + 1);
    while (links->n_regions <= call->region)
        links->of_region[links->n_regions++] = (struct region_rules){0};
    of = &links->of_region[call->region];
    for (size_t at = 0; !of->is_known && at < links->rules->n; at++) {
        at = link_rules_find(links->rules, at, call->name);
        if (at == links->rules->n)
            break;
        *mem_push(&of->rule, &of->n, &of->cap) = (uint32_t)at;
    }
    of->is_known = true;
    return of;
}

static void add_end(struct links *links, uint32_t at, const struct chrome_record *r,
                    const struct link_call *call, struct key key)
{
    const struct link_rule *rule = &links->rules->rule[at];

    *mem_push(&links->end, &links->n, &links->cap) =
        (struct link_end){.link = {.what = rule->what,
                                   .kind = rule->collective,
                                   .sent_bytes = bytes_of(r, &rule->sent),
                                   .received_bytes = bytes_of(r, &rule->received),
                                   .n_members = members_of(r, &rule->members)},
                          .rule = at,
                          .thread = call->thread,
                          .region = call->region,
                          .key = key,
                          .time_ns = call->time_ns,
                          .end_ns = call->end_ns,
                          .is_unnamed = is_unnamed(rule, r)};
}

uint32_t links_add(struct links *links, const struct chrome_record *r,
                   const struct link_call *call)
{
    const struct region_rules *of = rules_of(links, call);
    uint32_t link = MARKS_NO_LINK;
    bool is_settled = false; /* the first rule that fits, aside from those of order */

    for (size_t i = 0; i < of->n && links->n < MARKS_NO_LINK; i++) {
        const struct link_rule *rule = &links->rules->rule[of->rule[i]];
        struct key key;

        if ((is_settled && !is_order(rule->what)) || !fits(rule, r, call, &key))
            continue;
        if (!is_order(rule->what)) {
            is_settled = true;
            if (rule->what == LINK_NONE)
                continue;
            link = (uint32_t)links->n;
        }
        add_end(links, of->rule[i], r, call, key);
    }
    return link;
}

const struct link *links_of(const struct links *links, uint32_t link)
{
    return &links->end[link].link;
}

/* ------------------------------------------------------------------------- grouping */

/* The number behind text in a name, as text. */
static bool number_behind(const char *name, const char *text, char out[KEY_SIZE], int64_t plus)
{
    const char *at = text_number_behind(name, text);

    if (at == NULL)
        return false;
    snprintf(out, KEY_SIZE, "%lld", (long long)(strtoull(at, NULL, 10) + (uint64_t)plus));
    return true;
}

/* What the thread of an end tells of its key. False when it does not: then it is no end. */
static bool mix_thread(struct link_end *end, const struct link_rule *rule,
                       const struct link_thread *thread)
{
    for (uint32_t i = 0; i < rule->n_keys; i++) {
        const struct link_key *k = &rule->key[i];
        char value[KEY_SIZE] = "";

        if (k->kind < LINK_RANK)
            continue;
        if (k->kind == LINK_RANK)
            snprintf(value, sizeof value, "%lld", (long long)(thread->rank + k->plus));
        else if (!number_behind(k->kind == LINK_THREAD ? thread->name : thread->process,
                                k->text, value, k->plus) &&
                 !k->may_be_missing)
            return false;
        mix(&end->key, k->place, value);
    }
    return true;
}

static bool is_message(const struct link_end *end)
{
    return end->link.what == LINK_SEND || end->link.what == LINK_RECEIVE;
}

static int by_location(const void *a, const void *b, void *arg)
{
    const struct link_thread *thread = arg;
    const struct link_thread *p = &thread[*(const uint32_t *)a];
    const struct link_thread *q = &thread[*(const uint32_t *)b];

    return ORDER(p->location, q->location);
}

static void leave_out(struct link_end *end)
{
    end->link.what = LINK_NONE;
    end->is_unnamed = false;
}

/*
 * A group of ranks has a stream of its own on each. Where ends do not say their group, the
 * first streams of all ranks that have such ends are taken for those of one group, the second
 * of another.
 */
static void tell_streams_apart(struct links *links, const struct link_thread *thread)
{
    struct idmap id = {0};
    uint32_t *stream, *nth;

    for (size_t i = 0; i < links->n; i++)
        if (links->end[i].is_unnamed)
            idmap_add(&id, key_pair(0, links->end[i].thread));
    stream = mem_alloc(id.n, sizeof *stream);
    nth = mem_alloc(id.n, sizeof *nth);
    for (uint32_t s = 0; s < id.n; s++)
        stream[s] = (uint32_t)id.key[s].low;
    qsort_r(stream, id.n, sizeof *stream, by_location, (void *)(uintptr_t)thread);
    for (uint32_t s = 1; s < id.n; s++) {
        const struct link_thread *now = &thread[stream[s]], *last = &thread[stream[s - 1]];
        uint32_t before = nth[idmap_find(&id, key_pair(0, stream[s - 1]))];

        if (now->rank == last->rank)
            nth[idmap_find(&id, key_pair(0, stream[s]))] =
                before + (now->location != last->location);
    }
    for (size_t i = 0; i < links->n; i++) {
        struct link_end *end = &links->end[i];
        char text[16];

        if (!end->is_unnamed)
            continue;
        snprintf(text, sizeof text, "%u", nth[idmap_find(&id, key_pair(0, end->thread))]);
        if (strcmp(text, "0") != 0) /* the first is that of sizes too */
            mix(&end->key, STREAM_PLACE, text);
    }
    free(stream);
    free(nth);
    idmap_release(&id);
}

static bool has_calls(const struct definitions *defs, const char *pattern)
{
    for (uint32_t i = 0; i < defs->names.n; i++)
        if (fnmatch(pattern, defs->region[i].name, 0) == 0)
            return true;
    return false;
}

static bool are_met(const struct link_rule *rule, const struct definitions *defs)
{
    for (uint32_t i = 0; i < rule->n_conditions; i++)
        if (has_calls(defs, rule->condition[i].pattern) != rule->condition[i].is_wanted)
            return false;
    return true;
}

/* The ends of threads that are left out are none, nor are those of rules that do not hold here. */
static void check_ends(struct links *links, const struct link_thread *thread,
                       const struct definitions *defs)
{
    bool *is_met = mem_alloc(links->rules->n, sizeof *is_met);

    for (size_t i = 0; i < links->rules->n; i++)
        is_met[i] = are_met(&links->rules->rule[i], defs);
    for (size_t i = 0; i < links->n; i++)
        if (!is_met[links->end[i].rule] || thread[links->end[i].thread].is_left_out)
            leave_out(&links->end[i]);
    free(is_met);
}

/* Times by the common clock, and the whole key; false: it is no end after all. */
static bool settle_end(struct links *links, struct link_end *end,
                       const struct link_thread *thread)
{
    const struct link_rule *rule = &links->rules->rule[end->rule];
    uint64_t shift_ns = (uint64_t)thread[end->thread].shift_ns;

    end->time_ns = (int64_t)((uint64_t)end->time_ns + shift_ns);
    end->end_ns = (int64_t)((uint64_t)end->end_ns + shift_ns);
    if (!mix_thread(end, rule, &thread[end->thread]))
        leave_out(end);
    return end->link.what != LINK_NONE;
}

/* Gives every end its group and member; those of order come last, as the others' numbers are
 * seen. Returns how many groups there are. */
static uint32_t find_groups(struct links *links, const struct link_thread *thread)
{
    struct idmap id = {0};
    uint32_t n;

    tell_streams_apart(links, thread);
    for (size_t i = 0; i < links->n; i++) {
        struct link_end *end = &links->end[i];

        if (!settle_end(links, end, thread) || is_order(end->link.what))
            continue;
        end->group = idmap_add(&id, end->key);
        if (!is_message(end))
            end->member = links->rules->rule[end->rule].is_each_rank ? thread[end->thread].rank
                                                                     : end->thread;
    }
    for (size_t i = 0; i < links->n; i++)
        if (is_order(links->end[i].link.what))
            links->end[i].group = idmap_add(&id, links->end[i].key);
    n = id.n;
    idmap_release(&id);
    return n;
}

/* As a group is drawn above; those that are no ends come last. */
static int by_group(const void *a, const void *b)
{
    const struct link_end *p = *(struct link_end *const *)a, *q = *(struct link_end *const *)b;

    return ORDER(p->link.what == LINK_NONE, q->link.what == LINK_NONE) ?:
           ORDER(p->group, q->group) ?:
           ORDER(is_message(q), is_message(p)) ?:
           ORDER(p->member, q->member) ?:
           ORDER(p->link.what, q->link.what) ?:
           ORDER(p->time_ns, q->time_ns) ?:
           ORDER(p, q);
}

/* Ends that follow each other: of one group, or a part of it. */
struct link_part {
    struct link_end **end; /* [n] */
    size_t n;
};

/* The ends at the beginning of all that are of one kind, of one member. */
static struct link_part same_kind(const struct link_part *all)
{
    struct link_part part = {all->end, 0};

    while (part.n < all->n && all->end[part.n]->link.what == all->end[0]->link.what &&
           all->end[part.n]->member == all->end[0]->member)
        part.n++;
    return part;
}

static struct link_part behind(const struct link_part *all, const struct link_part *part)
{
    return (struct link_part){part->end + part->n,
                              all->n - (size_t)(part->end - all->end) - part->n};
}

/* ------------------------------------------------------------------------ messages */

static void set_peers(const struct link_part *from, const struct link_part *to,
                      const struct link_thread *thread, uint32_t comm)
{
    for (size_t i = 0; i < from->n; i++) {
        const struct link_end *other = from->end[i]; /* without one it stays unmatched */
        struct link *link = &from->end[i]->link;

        if (i < to->n)
            other = to->end[i];
        link->comm = comm;
        link->number = from->end[i]->group;
        link->peer = thread[other->thread].rank;
    }
}

/* Returns the part of the group behind its messages. */
static struct link_part match_messages(const struct link_part *group,
                                       const struct link_thread *thread, uint32_t comm)
{
    struct link_part sends = {group->end, 0}, receives;

    while (sends.n < group->n && group->end[sends.n]->link.what == LINK_SEND)
        sends.n++;
    receives = (struct link_part){group->end + sends.n, 0};
    while (sends.n + receives.n < group->n &&
           group->end[sends.n + receives.n]->link.what == LINK_RECEIVE)
        receives.n++;
    set_peers(&sends, &receives, thread, comm);
    set_peers(&receives, &sends, thread, comm);
    return behind(group, &receives);
}

/* --------------------------------------------------------------------- collectives */

/* A communicator of groups that have the same members. */
struct circle {
    uint32_t comm;
    uint32_t n; /* collectives so far */
};

struct circles {
    struct idmap id; /* of label and members */
    struct circle *circle;
    size_t cap;
    uint64_t n_absent; /* members that are said and not there, of all */
};

/* Sizes hold for the collectives of a member when there are as many. */
static void take_sizes(const struct link_part *collectives, const struct link_part *sizes)
{
    if (sizes->n != collectives->n)
        return;
    for (size_t i = 0; i < sizes->n; i++) {
        struct link *link = &collectives->end[i]->link;

        if (link->sent_bytes == 0 && link->received_bytes == 0) {
            link->sent_bytes = sizes->end[i]->link.sent_bytes;
            link->received_bytes = sizes->end[i]->link.received_bytes;
        }
    }
}

/* How many members there are, as one of them says; 0 when it does not. */
static uint32_t members_said(const struct link_end *end, const struct links *links,
                             const struct link_thread *thread)
{
    if (end->link.n_members > 0 || !links->rules->rule[end->rule].is_each_rank)
        return end->link.n_members;
    return thread[end->thread].n_ranks;
}

/* A key that groups of the same members have; n is how many there are in the trace. */
static struct key key_of_members(const struct link_part *rest, const char *label, uint32_t *n)
{
    struct key key = {0};
    char text[32];

    *n = 0;
    mix(&key, LABEL_PLACE, label);
    for (struct link_part p = *rest, part; p.n > 0; p = behind(&p, &part)) {
        part = same_kind(&p);
        if (p.end[0]->link.what != LINK_COLLECTIVE)
            continue;
        snprintf(text, sizeof text, "%u", p.end[0]->member);
        mix(&key, (*n)++, text);
    }
    return key;
}

/* A communicator of n members that are in the trace and others that are not. */
static uint32_t define_comm(const struct link_part *rest, const char *label, uint32_t n_members,
                            const struct link_thread *thread, struct definitions *defs)
{
    uint32_t comm = definitions_comm(defs, label, n_members), n = 0;
    uint32_t *member = defs->comm[comm].member;

    for (struct link_part p = *rest, part; p.n > 0; p = behind(&p, &part)) {
        part = same_kind(&p);
        if (p.end[0]->link.what == LINK_COLLECTIVE)
            member[n++] = thread[p.end[0]->thread].rank;
    }
    while (n < n_members)
        member[n++] = NO_RANK;
    defs->comm[comm].is_met = true;
    return comm;
}

/* The communicator of a group's members, new if it was not known. */
static struct circle *circle_of(struct circles *c, const struct link_part *rest,
                                const struct links *links, const struct link_thread *thread,
                                struct definitions *defs)
{
    const char *label = links->rules->rule[rest->end[0]->rule].label;
    uint32_t n_members = members_said(rest->end[0], links, thread), n_before = c->id.n, n, at;
    struct key key = key_of_members(rest, label, &n);
    char text[32];

    n_members = n > n_members ? n : n_members;
    snprintf(text, sizeof text, "of %u", n_members);
    mix(&key, n, text);
    at = idmap_add(&c->id, key);
    mem_grow(&c->circle, &c->cap, (size_t)at + 1);
    if (at < n_before)
        return &c->circle[at];
    c->n_absent += n_members - n;
    if (c->n_absent > MAX_MEMBERS) /* nobody has so many */
        n_members = n;
    c->circle[at] = (struct circle){.comm = define_comm(rest, label, n_members, thread, defs)};
    return &c->circle[at];
}

/* The collectives of a member at the beginning of what is left of a group; n 0: it has none. */
static struct link_part collectives_of(const struct link_part *rest)
{
    struct link_part part = same_kind(rest);

    if (rest->end[0]->link.what != LINK_COLLECTIVE)
        part.n = 0;
    return part;
}

static struct link_part find_longest(const struct link_part *rest)
{
    struct link_part longest = {NULL, 0};

    for (struct link_part p = *rest, part; p.n > 0; p = behind(&p, &part)) {
        struct link_part now = collectives_of(&p);

        part = same_kind(&p);
        if (now.n > longest.n)
            longest = now;
    }
    return longest;
}

/* [part->n] when each ended. */
static int64_t *ends_of(const struct link_part *part)
{
    int64_t *end_ns = mem_alloc(part->n, sizeof *end_ns);

    for (size_t i = 0; i < part->n; i++)
        end_ns[i] = part->end[i]->end_ns;
    return end_ns;
}

static void match_member(const struct link_part *now, struct meetings *meetings, uint32_t comm)
{
    int64_t *end_ns = ends_of(now);
    uint32_t *id = mem_alloc(now->n, sizeof *id);

    meetings_add(meetings, end_ns, now->n, id);
    for (size_t i = 0; i < now->n; i++) {
        now->end[i]->link.comm = comm;
        now->end[i]->link.number = id[i];
    }
    free(end_ns);
    free(id);
}

static void match_collectives(const struct link_part *rest, struct circle *circle)
{
    struct link_part longest = find_longest(rest);
    struct meetings meetings;
    int64_t *end_ns = ends_of(&longest);

    meetings_init(&meetings, end_ns, longest.n);
    for (struct link_part p = *rest, part; p.n > 0; p = behind(&p, &part)) {
        struct link_part now = collectives_of(&p), next;

        part = same_kind(&p);
        match_member(&now, &meetings, circle->comm);
        next = behind(&p, &part);
        if (now.n > 0 && next.n > 0 && next.end[0]->member == p.end[0]->member)
            take_sizes(&now, &(struct link_part){next.end, same_kind(&next).n});
    }
    meetings_number(&meetings);
    for (size_t i = 0; i < rest->n; i++)
        if (rest->end[i]->link.what == LINK_COLLECTIVE)
            rest->end[i]->link.number =
                circle->n + meetings.meeting[rest->end[i]->link.number].number;
    circle->n += (uint32_t)meetings.n;
    meetings_release(&meetings);
    free(end_ns);
}

/* -------------------------------------------------------------------------- order */

static int64_t middle_ns(const struct link_end *end)
{
    return end->time_ns + (end->end_ns - end->time_ns) / 2;
}

/*
 * The last of these that was over at a time, NULL: none was. Times are rounded, and of clocks
 * that disagree by a little: what was over by half is.
 */
static const struct link_end *last_before(const struct link_part *before, int64_t time_ns)
{
    size_t n_over;

    if (before->n == 1)
        return before->end[0]->time_ns < time_ns ? before->end[0] : NULL;
    n_over = FIRST_NOT(i, 0, before->n, middle_ns(before->end[i]) <= time_ns);
    return n_over > 0 ? before->end[n_over - 1] : NULL;
}

static void order_calls(const struct link_part *group, const struct link_thread *thread,
                        struct definitions *defs)
{
    struct link_part before = {group->end, 0}, after;

    while (before.n < group->n && group->end[before.n]->link.what == LINK_BEFORE)
        before.n++;
    after = behind(group, &before);
    for (size_t i = 0; i < after.n; i++) {
        const struct link_end *end = after.end[i], *on = last_before(&before, end->time_ns);

        if (on)
            definitions_dependency(
                defs, &(struct dependency){.begin_ns = (uint64_t)end->time_ns,
                                           .on_begin_ns = (uint64_t)on->time_ns,
                                           .location = thread[end->thread].location,
                                           .on_location = thread[on->thread].location,
                                           .region = end->region,
                                           .on_region = on->region,
                                           .kind = DEPENDENCY_END});
    }
}

/* ------------------------------------------------------------------------------ all */

static int by_first_time(const void *a, const void *b)
{
    const struct link_part *p = a, *q = b;

    return ORDER(p->end[0]->time_ns, q->end[0]->time_ns) ?: ORDER(p->end, q->end);
}

/* Cuts the sorted ends into groups, those that begin first before the others. */
static void cut_groups(struct link_end **end, size_t n, struct link_part *group,
                       uint32_t n_groups)
{
    uint32_t g = 0;

    for (size_t i = 0; i < n && end[i]->link.what != LINK_NONE; i++) {
        if (i == 0 || end[i]->group != end[i - 1]->group)
            group[g++] = (struct link_part){end + i, 0};
        group[g - 1].n++;
    }
    qsort(group, n_groups, sizeof *group, by_first_time);
}

/* The communicator of all messages, which their tags tell apart. */
static uint32_t define_world(const struct links *links, struct definitions *defs)
{
    uint32_t comm;
    size_t i = 0;

    while (i < links->n && !is_message(&links->end[i]))
        i++;
    if (i == links->n)
        return NO_COMM;
    comm = definitions_comm(defs, "links", defs->n_ranks);
    for (uint32_t r = 0; r < defs->n_ranks; r++)
        defs->comm[comm].member[r] = r;
    return comm;
}

static void match_group(struct links *links, const struct link_part *group,
                        struct circles *circles, const struct link_thread *thread,
                        uint32_t world, struct definitions *defs)
{
    struct link_part rest;

    if (is_order(group->end[0]->link.what)) {
        order_calls(group, thread, defs);
        return;
    }
    rest = match_messages(group, thread, world);

    for (size_t i = 0; i < rest.n; i++)
        if (rest.end[i]->link.what == LINK_COLLECTIVE) {
            match_collectives(&rest, circle_of(circles, &rest, links, thread, defs));
            break;
        }
}

/* How many calls each set of rules took for something. */
static void count_uses(const struct links *links, struct definitions *defs)
{
    for (size_t i = 0; i < links->n; i++) {
        const struct link_end *end = &links->end[i];
        struct linking *linking;

        if (end->link.what == LINK_NONE || end->link.what == LINK_SIZES)
            continue;
        linking = definitions_linking(defs, links->rules->rule[end->rule].from);
        linking->n_sends += end->link.what == LINK_SEND;
        linking->n_receives += end->link.what == LINK_RECEIVE;
        linking->n_collectives += end->link.what == LINK_COLLECTIVE;
        linking->n_dependencies += end->link.what == LINK_AFTER;
    }
}

void links_end(struct links *links, const struct link_thread *thread, struct definitions *defs)
{
    struct link_end **end = mem_alloc(links->n, sizeof *end);
    struct circles circles = {.cap = 0};
    struct link_part *group;
    uint32_t n_groups, world;

    check_ends(links, thread, defs);
    n_groups = find_groups(links, thread);
    group = mem_alloc(n_groups, sizeof *group);
    world = define_world(links, defs);
    for (size_t i = 0; i < links->n; i++)
        end[i] = &links->end[i];
    qsort(end, links->n, sizeof *end, by_group);
    cut_groups(end, links->n, group, n_groups);
    for (uint32_t g = 0; g < n_groups; g++)
        match_group(links, &group[g], &circles, thread, world, defs);
    count_uses(links, defs);
    free(end);
    free(group);
    free(circles.circle);
    idmap_release(&circles.id);
}
