/*
 * The format knows no order, so a file is read into one list per thread, which is sorted and
 * turned into events when the whole file has been seen. Two calls that begin at the same time
 * are nested as the longer around the shorter.
 */
#include "trace/chrome/source_chrome.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/names.h"
#include "trace/chrome/chrome_json.h"
#include "trace/event_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One record of a thread; an X is one of these until the events are made. */
struct mark {
    int64_t time_ns, end_ns; /* end_ns of an X only */
    uint32_t region;         /* or the flow, for 's' and 'f'; or the value, for 'C' */
    uint32_t order;          /* in the file */
    char phase;
};

struct thread {
    uint64_t pid, tid;
    struct mark *mark;
    size_t n, cap;
    struct event_list list;
};

/* Where a flow started and ended: threads. */
struct flow {
    uint32_t from, to;
};

struct chrome {
    struct definitions *defs;
    struct quality *quality;
    struct names text; /* pids, tids and ids that are strings */
    struct idmap thread_id;
    struct thread *thread;
    size_t thread_cap;
    struct idmap flow_id;
    struct flow *flow;
    size_t flow_cap;
    struct counter_value *value; /* of 'C' */
    size_t n_values, value_cap;
    bool wants_counters;
    struct process_rank *rank; /* from the names of processes */
    size_t n_ranks, rank_cap;
    struct {
        uint64_t pid, tid;
        char *name;
    } * label; /* thread names */
    size_t n_labels, label_cap;
    uint32_t *list_of; /* [n_locations] thread of a location */
    uint32_t n_marks;
};

/* Strings come after all numbers, in the order of their appearance. */
static uint64_t id_number(struct chrome *c, const struct chrome_id *id)
{
    return id->is_text ? (uint64_t)1 << 63 | names_add(&c->text, id->text) : id->number;
}

static struct thread *thread_of(struct chrome *c, const struct chrome_record *r)
{
    uint64_t pid = r->pid.is_set ? id_number(c, &r->pid) : 0;
    uint64_t tid = r->tid.is_set ? id_number(c, &r->tid) : pid;
    uint32_t n_before = c->thread_id.n;
    uint32_t at = idmap_add(&c->thread_id, key_pair(pid, tid));

    if (at == n_before) {
        mem_grow(&c->thread, &c->thread_cap, (size_t)at + 1, sizeof *c->thread);
        c->thread[at] = (struct thread){.pid = pid, .tid = tid};
    }
    return &c->thread[at];
}

static uint32_t flow_of(struct chrome *c, const struct chrome_record *r)
{
    uint32_t n_before = c->flow_id.n;
    uint32_t at = idmap_add(&c->flow_id, key_pair(0, id_number(c, &r->id)));

    if (at == n_before) {
        mem_grow(&c->flow, &c->flow_cap, (size_t)at + 1, sizeof *c->flow);
        c->flow[at] = (struct flow){UINT32_MAX, UINT32_MAX};
    }
    return at;
}

/* "MPI Rank 3", "rank:3" -> 3. */
static bool rank_in(const char *text, uint32_t *rank)
{
    const char *at = strcasestr(text, "rank");
    unsigned long value;
    char *end;

    if (at == NULL)
        return false;
    at += strlen("rank");
    at += strspn(at, " :#_=");
    if (!isdigit((unsigned char)*at))
        return false;
    value = strtoul(at, &end, 10);
    *rank = (uint32_t)value;
    return value < 10000000;
}

static void note_metadata(struct chrome *c, const struct chrome_record *r)
{
    uint64_t pid = r->pid.is_set ? id_number(c, &r->pid) : 0;
    uint32_t rank;

    if (strcmp(r->name, "process_name") == 0 && rank_in(r->args_name, &rank)) {
        mem_grow(&c->rank, &c->rank_cap, c->n_ranks + 1, sizeof *c->rank);
        c->rank[c->n_ranks++] = (struct process_rank){pid, rank};
    } else if (strcmp(r->name, "thread_name") == 0 && r->args_name[0]) {
        mem_grow(&c->label, &c->label_cap, c->n_labels + 1, sizeof *c->label);
        c->label[c->n_labels].pid = pid;
        c->label[c->n_labels].tid = r->tid.is_set ? id_number(c, &r->tid) : pid;
        c->label[c->n_labels++].name = mem_copy_string(r->args_name);
    }
}

static void push_mark(struct chrome *c, const struct chrome_record *r, uint32_t region,
                      int64_t end_ns)
{
    struct thread *thread = thread_of(c, r);

    mem_grow(&thread->mark, &thread->cap, thread->n + 1, sizeof *thread->mark);
    thread->mark[thread->n++] =
        (struct mark){r->time_ns, end_ns, region, c->n_marks++, r->phase};
}

static void note_flow(struct chrome *c, const struct chrome_record *r)
{
    uint32_t flow, thread;

    if (!r->id.is_set) {
        c->quality->n[QUALITY_bad_record]++;
        return;
    }
    flow = flow_of(c, r);
    push_mark(c, r, flow, 0);
    thread = (uint32_t)(thread_of(c, r) - c->thread);
    if (r->phase == 's')
        c->flow[flow].from = thread;
    else
        c->flow[flow].to = thread;
}

/* A record has a value or several, which are told apart by their names. */
static void note_counter(struct chrome *c, const struct chrome_record *r)
{
    if (!r->has_time || r->n_series == 0 || c->n_marks >= UINT32_MAX - CHROME_SERIES) {
        c->quality->n[QUALITY_bad_record]++;
        return;
    }
    for (uint32_t i = 0; i < r->n_series; i++) {
        const struct chrome_series *s = &r->series[i];
        char name[CHROME_TEXT + sizeof s->name + 1];
        struct counter_value value = {.is_real = s->is_real};

        snprintf(name, sizeof name, r->n_series > 1 ? "%s.%s" : "%s", r->name, s->name);
        value.counter = names_add(&c->defs->counters, name);
        if (s->is_real)
            value.real = s->real;
        else
            value.whole = s->whole;
        mem_grow(&c->value, &c->value_cap, c->n_values + 1, sizeof value);
        c->value[c->n_values] = value;
        push_mark(c, r, (uint32_t)c->n_values++, 0);
    }
}

static void on_record(void *ctx, const struct chrome_record *r)
{
    struct chrome *c = ctx;
    bool is_call = r->phase == 'B' || r->phase == 'E' || r->phase == 'X';
    uint32_t region = ANY_REGION;

    if (r->phase == 'M') {
        note_metadata(c, r);
        return;
    }
    if (r->phase == 'C' && c->wants_counters) {
        note_counter(c, r);
        return;
    }
    if (!is_call && r->phase != 's' && r->phase != 'f') {
        c->quality->n[r->phase ? QUALITY_ignored_event : QUALITY_bad_record]++;
        return;
    }
    if (!r->has_time || (r->phase == 'X' && r->has_duration && r->duration_ns < 0) ||
        c->n_marks == UINT32_MAX) {
        c->quality->n[QUALITY_bad_record]++;
        return;
    }
    if (!is_call) {
        note_flow(c, r);
        return;
    }
    if (r->name[0] || r->phase != 'E')
        region = definitions_region(c->defs, r->name[0] ? r->name : "(no name)");
    push_mark(c, r, region, r->time_ns + (r->has_duration ? r->duration_ns : 0));
}

/* ------------------------------------------------------------------- marks to events */

static int by_time(const void *a, const void *b)
{
    const struct mark *p = a, *q = b;
    bool is_p_x = p->phase == 'X', is_q_x = q->phase == 'X';

    if (p->time_ns != q->time_ns)
        return p->time_ns < q->time_ns ? -1 : 1;
    if (is_p_x && is_q_x && p->end_ns != q->end_ns)
        return p->end_ns > q->end_ns ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

struct open_x {
    int64_t end_ns;
    uint32_t region;
};

static void push_flow(struct chrome *c, struct thread *thread, const struct mark *mark)
{
    bool is_send = mark->phase == 's';
    const struct flow *flow = &c->flow[mark->region];
    uint32_t other = is_send ? flow->to : flow->from;

    if (other == UINT32_MAX)
        other = (uint32_t)(thread - c->thread); /* stays unmatched */
    *event_list_message(&thread->list, (uint64_t)mark->time_ns) = (struct message){
        .begin_ns = (uint64_t)mark->time_ns,
        .match = MESSAGE_UNMATCHED,
        .peer = other, /* a rank once these are known */
        .tag = mark->region,
        .order = mark->order,
        .kind = is_send ? MESSAGE_SEND : MESSAGE_RECV,
    };
}

/* Sorts the marks and emits their events; an X leaves where the stack says. */
static void make_events(struct chrome *c, struct thread *thread)
{
    struct open_x *open = NULL;
    size_t n_open = 0, cap = 0;

    qsort(thread->mark, thread->n, sizeof *thread->mark, by_time);
    for (size_t i = 0; i <= thread->n; i++) {
        const struct mark *mark = &thread->mark[i];

        while (n_open > 0 && (i == thread->n || open[n_open - 1].end_ns <= mark->time_ns)) {
            const struct open_x *x = &open[--n_open];

            event_list_push(&thread->list, (uint64_t)x->end_ns, EVENT_LEAVE, x->region);
        }
        if (i == thread->n)
            break;
        if (mark->phase == 's' || mark->phase == 'f') {
            push_flow(c, thread, mark);
            continue;
        }
        if (mark->phase == 'C') {
            *event_list_counter(&thread->list, (uint64_t)mark->time_ns) =
                c->value[mark->region];
            continue;
        }
        event_list_push(&thread->list, (uint64_t)mark->time_ns,
                        mark->phase == 'E' ? EVENT_LEAVE : EVENT_ENTER, mark->region);
        if (mark->phase != 'X')
            continue;
        if (n_open > 0 && mark->end_ns > open[n_open - 1].end_ns)
            c->quality->n[QUALITY_crossed_leave]++;
        mem_grow(&open, &cap, n_open + 1, sizeof *open);
        open[n_open++] = (struct open_x){mark->end_ns, mark->region};
        /* one that outlives the call around it is cut there */
        if (n_open > 1 && open[n_open - 1].end_ns > open[n_open - 2].end_ns)
            open[n_open - 1].end_ns = open[n_open - 2].end_ns;
    }
    free(open);
    free(thread->mark);
    thread->mark = NULL;
}

static uint64_t earliest(const struct chrome *c)
{
    int64_t first = INT64_MAX;

    for (uint32_t i = 0; i < c->thread_id.n; i++)
        for (size_t k = 0; k < c->thread[i].n; k++)
            if (c->thread[i].mark[k].time_ns < first)
                first = c->thread[i].mark[k].time_ns;
    return (uint64_t)first;
}

static const char *label_of(const struct chrome *c, const struct thread *thread)
{
    for (size_t i = 0; i < c->n_labels; i++)
        if (c->label[i].pid == thread->pid && c->label[i].tid == thread->tid)
            return c->label[i].name;
    return "";
}

/* Threads become locations; the list that belongs to each follows the sorting. */
static void define_locations(struct chrome *c)
{
    struct definitions *defs = c->defs;
    uint32_t n = c->thread_id.n, *rank_of_thread = mem_alloc(n, sizeof *rank_of_thread);
    uint32_t world;

    for (uint32_t i = 0; i < n; i++)
        definitions_location(defs, c->thread[i].tid, label_of(c, &c->thread[i]),
                             c->thread[i].pid);
    definitions_finish(defs, c->rank, c->n_ranks);
    world = definitions_comm(defs, "flows", defs->n_ranks);
    for (uint32_t r = 0; r < defs->n_ranks; r++)
        defs->comm[world].member[r] = r;
    c->list_of = mem_alloc(n, sizeof *c->list_of);
    for (uint32_t l = 0; l < n; l++) {
        c->list_of[l] =
            idmap_find(&c->thread_id, key_pair(defs->location[l].group, defs->location[l].id));
        rank_of_thread[c->list_of[l]] = defs->location[l].rank;
    }
    for (uint32_t i = 0; i < n; i++)
        for (size_t m = 0; m < c->thread[i].list.all.n_messages; m++)
            c->thread[i].list.all.message[m].peer =
                rank_of_thread[c->thread[i].list.all.message[m].peer];
    free(rank_of_thread);
}

static int chrome_open(struct source *source, const char *path)
{
    struct chrome *c = mem_alloc(1, sizeof *c);
    uint64_t origin;
    int rc;

    source->impl = c;
    c->defs = &source->defs;
    c->quality = &source->quality;
    c->wants_counters = source->opts.wants_counters;
    rc = chrome_json_read(path, c->wants_counters, on_record, c, &source->quality);
    if (rc < 0)
        return rc;
    if (c->thread_id.n == 0)
        return err_set(ERR_FORMAT, "no calls in '%s'", path);
    origin = earliest(c);
    for (uint32_t i = 0; i < c->thread_id.n; i++) {
        for (size_t k = 0; k < c->thread[i].n; k++) {
            c->thread[i].mark[k].time_ns -= (int64_t)origin;
            c->thread[i].mark[k].end_ns -= (int64_t)origin;
        }
        make_events(c, &c->thread[i]);
    }
    define_locations(c);
    source->defs.origin_ticks = origin;
    return 0;
}

static void chrome_close(struct source *source)
{
    struct chrome *c = source->impl;

    for (uint32_t i = 0; i < c->thread_id.n; i++) {
        free(c->thread[i].mark);
        event_list_release(&c->thread[i].list);
    }
    for (size_t i = 0; i < c->n_labels; i++)
        free(c->label[i].name);
    names_release(&c->text);
    idmap_release(&c->thread_id);
    idmap_release(&c->flow_id);
    free(c->thread);
    free(c->flow);
    free(c->value);
    free(c->rank);
    free(c->label);
    free(c->list_of);
    free(c);
}

struct chrome_reader {
    const struct chrome *chrome;
    struct event_cursor cursor;
};

static void *reader_new(struct source *source)
{
    struct chrome_reader *reader = mem_alloc(1, sizeof *reader);

    reader->chrome = source->impl;
    return reader;
}

static int begin(void *impl, uint32_t location, struct quality *quality)
{
    struct chrome_reader *reader = impl;
    const struct chrome *c = reader->chrome;

    (void)quality;
    reader->cursor = (struct event_cursor){.list = &c->thread[c->list_of[location]].list};
    return 0;
}

static size_t next(void *impl, struct event_batch *batch, size_t most, struct quality *quality)
{
    struct chrome_reader *reader = impl;

    (void)quality;
    return event_cursor_next(&reader->cursor, batch, most);
}

static void end(void *impl, struct quality *quality)
{
    (void)impl, (void)quality;
}

const struct source_ops source_chrome_ops = {
    .name = "chrome",
    .what =
        "Chrome/Perfetto JSON (uftrace, PyTorch, ...), plain or zstd, '-' for standard input",
    .accepts = chrome_json_accepts,
    .open = chrome_open,
    .close = chrome_close,
    .reader_new = reader_new,
    .reader_free = free,
    .begin = begin,
    .next = next,
    .end = end,
};
