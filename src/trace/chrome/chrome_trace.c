/*
 * A document that says its rank is a part of its own; the others of a file are one together.
 *
 * An argument is its kind, its name, and eight bytes or a text with its zero; behind the last of
 * a record is a kind that there is none of.
 */
#include "trace/chrome/chrome_trace.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------- arguments */

#define MAX_BYTES (1 + sizeof(uint32_t) + ARGUMENT_TEXT_BYTES + 1) /* of one */

static void kept_args_release(struct kept_args *kept)
{
    paged_release(kept->paged, kept->data);
    *kept = (struct kept_args){0};
}

static void put_bytes(struct kept_args *kept, const void *data, size_t bytes)
{
    memcpy(kept->data + kept->n, data, bytes);
    kept->n += bytes;
}

static void put_arg(struct kept_args *kept, uint32_t name, const struct chrome_detail *detail)
{
    const char kind = (char)detail->kind;

    put_bytes(kept, &kind, 1);
    put_bytes(kept, &name, sizeof name);
    if (detail->kind == ARGUMENT_TEXT)
        put_bytes(kept, detail->text, strlen(detail->text) + 1);
    else
        put_bytes(kept, &detail->natural, sizeof detail->natural);
}

/*
 * Those of a record.
 *   names   of arguments, to which they are added
 *   n_lost  is more by those that are not kept, as there are too many names
 * Returns where they are, or KEPT_ARGS_NONE when there are none.
 */
static uint64_t kept_args_add(struct kept_args *kept, const struct chrome_record *record,
                              struct names *names, uint64_t *n_lost)
{
    const char end = N_ARGUMENT_KINDS;
    uint64_t at = kept->n;

    for (uint32_t i = 0; i < record->n_details; i++) {
        const struct chrome_detail *detail = &record->detail[i];
        uint32_t name = names->n < KEPT_ARGS_NAMES ? names_add(names, detail->name)
                                                   : names_find(names, detail->name);

        kept->data =
            paged_grow(kept->paged, kept->data, kept->n, &kept->cap, kept->n + MAX_BYTES, 1);
        if (name == NAMES_NONE)
            ++*n_lost;
        else
            put_arg(kept, name, detail);
    }
    if (kept->n == at)
        return KEPT_ARGS_NONE;
    kept->data = paged_grow(kept->paged, kept->data, kept->n, &kept->cap, kept->n + 1, 1);
    put_bytes(kept, &end, 1);
    return at;
}

bool kept_args_next(const struct kept_args *kept, uint64_t *at, struct argument_value *value)
{
    const char *data = kept->data + *at;
    size_t bytes = sizeof value->natural;

    *value = (struct argument_value){.kind = (unsigned char)data[0]};
    if (value->kind >= N_ARGUMENT_KINDS)
        return false;
    memcpy(&value->argument, data + 1, sizeof value->argument);
    data += 1 + sizeof value->argument;
    if (value->kind == ARGUMENT_TEXT) {
        value->text = data;
        bytes = strlen(data) + 1;
    } else {
        memcpy(&value->natural, data, bytes);
    }
    *at += 1 + sizeof value->argument + bytes;
    return true;
}

/* ---------------------------------------------------------------------------------- a trace */

#define ON_GPU " (GPU)"                   /* behind the names of annotations on streams */
#define MAX_STEPS 16                      /* regions whose numbers are said */
#define MARKS_IN_MEMORY ((size_t)1 << 20) /* 40 MB */
#define ASYNC_TID ((uint64_t)1 << 62)     /* tracks have numbers of threads that nobody has */

int chrome_trace_init(struct chrome_trace *t, struct source *source, const char *links)
{
    int rc = 0;

    t->defs = &source->defs;
    t->quality = &source->quality;
    t->wants_counters = source->opts.wants_counters;
    t->wants_arguments = source->opts.wants_arguments;
    t->paged = paged_new(fs_temporary_dir(), PAGED_MIN_BYTES);
    t->args.paged = t->paged;
    t->rules.most_args = CHROME_MAX_ARGS;
    link_rules_arg(&t->rules, "name");
    link_rules_arg(&t->rules, "labels");
    link_rules_arg(&t->rules, "step_num"); /* of JAX's StepTraceAnnotation */
    link_rules_arg(&t->rules, "correlation");
    link_rules_arg(&t->rules, "correlation_id");
    if (links)
        rc = link_rules_read(&t->rules, links);
    if (rc == 0)
        link_rules_built_in(&t->rules);
    t->links = links_new(&t->rules);
    t->marks = marks_new(MARKS_IN_MEMORY);
    t->async = async_spans_new(MARKS_IN_MEMORY);
    return rc;
}

void chrome_trace_release(struct chrome_trace *t)
{
    for (size_t i = 0; i < t->n_parts; i++)
        free(t->part[i].path);
    for (uint32_t i = 0; i < t->process_id.n; i++)
        free(t->process[i].name);
    for (uint32_t i = 0; i < t->thread_id.n; i++) {
        free(t->thread[i].name);
        free(t->thread[i].begun);
    }
    free(t->part);
    free(t->process);
    free(t->thread);
    free(t->flow);
    free(t->launch);
    free(t->operation);
    paged_release(t->paged, t->value);
    kept_args_release(&t->args);
    paged_free(t->paged);
    free(t->steps);
    idmap_release(&t->process_id);
    idmap_release(&t->thread_id);
    flow_ends_release(&t->flow_ends);
    idmap_release(&t->launch_id);
    names_release(&t->text);
    links_free(t->links);
    link_rules_release(&t->rules);
    marks_free(t->marks);
    async_spans_free(t->async);
}

/* -------------------------------------------------------------------------- who */

/* Strings come after all numbers, in the order of their appearance. */
static uint64_t id_number(struct chrome_trace *t, const struct chrome_id *id)
{
    return id->is_text ? (uint64_t)1 << 63 | names_add(&t->text, id->text) : id->number;
}

static uint32_t process_of(struct chrome_trace *t, const struct chrome_record *r)
{
    uint64_t pid = r->pid.is_set ? id_number(t, &r->pid) : 0;
    uint32_t part = (uint32_t)t->n_parts - 1, n_before = t->process_id.n;
    uint32_t at = idmap_add(&t->process_id, key_pair(part, pid));

    if (at == n_before) {
        mem_grow(&t->process, &t->process_cap, (size_t)at + 1);
        t->process[at] =
            (struct chrome_process){.part = part, .pid = pid, .name = mem_copy_string("")};
    }
    return at;
}

static uint32_t thread_numbered(struct chrome_trace *t, uint32_t process, uint64_t tid)
{
    uint32_t n_before = t->thread_id.n, at = idmap_add(&t->thread_id, key_pair(process, tid));

    if (at == n_before) {
        mem_grow(&t->thread, &t->thread_cap, (size_t)at + 1);
        t->thread[at] = (struct chrome_thread){
            .process = process, .tid = tid, .name = mem_copy_string(""), .last_ns = INT64_MIN};
    }
    return at;
}

static uint32_t thread_of(struct chrome_trace *t, const struct chrome_record *r)
{
    uint32_t process = process_of(t, r);

    return thread_numbered(t, process,
                           r->tid.is_set ? id_number(t, &r->tid) : t->process[process].pid);
}

static void rename_to(char **name, const char *text)
{
    size_t length = strlen(text);

    while (length > 0 && text[length - 1] == ' ')
        length--;
    free(*name);
    *name = mem_copy_string(text);
    (*name)[length] = '\0';
}

bool chrome_device(const char *process, char kind[CHROME_DEVICE], uint32_t *number)
{
    char found[CHROME_DEVICE];
    unsigned n;

    if (sscanf(process, "/device:%7[A-Z]:%9u", found, &n) != 2)
        return false;
    if (kind)
        strcpy(kind, found);
    if (number)
        *number = n;
    return true;
}

static void note_metadata(struct chrome_trace *t, const struct chrome_record *r)
{
    const char *name = r->arg[ARG_NAME].is_set ? r->arg[ARG_NAME].text : "";
    uint32_t at;

    if (strcmp(r->name, "process_name") == 0) {
        at = process_of(t, r);
        rename_to(&t->process[at].name, name);
        t->process[at].is_gpu |= chrome_device(name, NULL, NULL);
    } else if (strcmp(r->name, "thread_name") == 0) {
        at = thread_of(t, r);
        rename_to(&t->thread[at].name, name);
    } else if (strcmp(r->name, "process_labels") == 0 && r->arg[ARG_LABELS].is_set) {
        at = process_of(t, r);
        t->process[at].is_gpu |= strncmp(r->arg[ARG_LABELS].text, "GPU", strlen("GPU")) == 0;
    }
}

/* -------------------------------------------------------------------------- marks */

static struct mark mark_of(struct chrome_trace *t, const struct chrome_record *r, uint32_t ref,
                           uint32_t link)
{
    return (struct mark){.time_ns = r->time_ns,
                         .end_ns = r->time_ns + (r->has_duration ? r->duration_ns : 0),
                         .ref = ref,
                         .link = link,
                         .order = t->n_marks++,
                         .args = KEPT_ARGS_NONE,
                         .phase = r->phase};
}

static uint64_t keep_args(struct chrome_trace *t, const struct chrome_record *r)
{
    t->quality->n[QUALITY_lost_detail] += r->n_lost_details;
    return t->wants_arguments ? kept_args_add(&t->args, r, &t->defs->arguments,
                                              &t->quality->n[QUALITY_lost_detail])
                              : KEPT_ARGS_NONE;
}

static void note_time(struct chrome_part *part, const struct mark *mark)
{
    if (mark->time_ns < part->first_ns)
        part->first_ns = mark->time_ns;
    if (mark->end_ns > part->last_ns)
        part->last_ns = mark->end_ns;
}

/* One more B or E of a thread: whether they nest as they come. */
static void note_nesting(struct chrome_thread *thread, const struct mark *mark)
{
    uint32_t top = thread->n_begun > 0 ? thread->begun[thread->n_begun - 1] : ANY_REGION;

    if (thread->is_tangled)
        return;
    thread->is_tangled = mark->time_ns < thread->last_ns;
    thread->last_ns = mark->time_ns;
    if (mark->phase == 'B') {
        thread->has_begins = true;
        *mem_push(&thread->begun, &thread->n_begun, &thread->begun_cap) = mark->ref;
    } else if (thread->n_begun > 0 && (mark->ref == top || mark->ref == ANY_REGION)) {
        thread->n_begun--;
    } else {
        thread->is_tangled = true;
    }
}

static void push_mark(struct chrome_trace *t, uint32_t thread, const struct mark *mark)
{
    struct chrome_thread *of = &t->thread[thread];

    of->n_marks++;
    if (mark->phase == 'X')
        of->has_spans = true;
    else if (mark->phase == 'B' || mark->phase == 'E')
        note_nesting(of, mark);
    marks_push(t->marks, thread, mark);
    note_time(&t->part[t->process[of->process].part], mark);
}

/* From what was started on a CPU to where it runs: no message. Kineto's names for them. */
static bool is_launch(const struct chrome_record *r)
{
    return strcmp(r->category, "ac2g") == 0 || strcmp(r->category, "async_cpu_to_gpu") == 0 ||
           strcmp(r->category, "async_gpu") == 0;
}

/* From an operation to what goes back through it: a call that it has nothing to wait for in. */
static bool is_relation(const struct chrome_record *r)
{
    return strcmp(r->category, "fwdbwd") == 0;
}

bool chrome_goes_back(const char *name)
{
    static const char evaluate[] = "autograd::engine::evaluate_function";

    return strncmp(name, evaluate, sizeof evaluate - 1) == 0;
}

static uint32_t launch_numbered(struct chrome_trace *t, uint64_t id)
{
    uint32_t n_before = t->launch_id.n;
    uint32_t at = idmap_add(&t->launch_id, key_pair(t->n_parts - 1, id));

    if (at == n_before) {
        mem_grow(&t->launch, &t->launch_cap, (size_t)at + 1);
        t->launch[at] = (struct chrome_launch){
            .from = CHROME_NOWHERE, .to = CHROME_NOWHERE, .region = ANY_REGION};
    }
    return at;
}

static void note_launch(struct chrome_trace *t, const struct chrome_record *r)
{
    uint32_t thread = thread_of(t, r), at;

    if (!r->id.is_set) {
        t->quality->n[QUALITY_bad_record]++;
        return;
    }
    at = launch_numbered(t, id_number(t, &r->id));
    if (r->phase == 's') {
        if (t->launch[at].from != thread || t->launch[at].from_ns != r->time_ns)
            t->launch[at].region = ANY_REGION;
        t->launch[at].from = thread;
        t->launch[at].from_ns = r->time_ns;
        t->launch[at].has_tail = true;
    } else {
        t->launch[at].to = thread;
        t->launch[at].to_ns = r->time_ns;
    }
}

static bool is_of_gpu(const char *category)
{
    return strcmp(category, "kernel") == 0 || strncmp(category, "gpu_", strlen("gpu_")) == 0;
}

static bool is_of_runtime(const char *category)
{
    return strstr(category, "_runtime") != NULL || strstr(category, "_driver") != NULL;
}

static void note_launching_call(struct chrome_trace *t, uint32_t at, uint32_t thread,
                                uint32_t region, int64_t begin_ns)
{
    struct chrome_launch *x = &t->launch[at];

    x->is_ambiguous |= x->is_called && x->caller != t->thread[thread].process;
    x->is_called = true;
    x->caller = t->thread[thread].process;
    x->region = x->is_ambiguous ? ANY_REGION : region;
    if (x->is_ambiguous && x->has_tail) /* an arrow knows better */
        return;
    x->from = thread;
    x->from_ns = begin_ns;
}

/* An operation of a GPU has the number of the call that launched it; a graph's all have one. What
 * XLA writes has no categories: which of both a record is, is known at the end. */
static void note_correlation(struct chrome_trace *t, const struct chrome_record *r,
                             uint32_t thread, uint32_t region)
{
    bool is_of_xla = r->arg[ARG_CORRELATION_ID].is_set;
    const struct chrome_arg *arg = &r->arg[is_of_xla ? ARG_CORRELATION_ID : ARG_CORRELATION];
    const char *number = arg->text;
    bool is_operation = is_of_gpu(r->category) || is_of_xla;
    uint32_t at;

    if (!arg->is_set || !isdigit((unsigned char)*number) ||
        !(is_operation || is_of_runtime(r->category)))
        return;
    at = launch_numbered(t, strtoull(number, NULL, 10));
    if (!is_operation) {
        note_launching_call(t, at, thread, region, r->time_ns);
        return;
    }
    *mem_push(&t->operation, &t->n_operations, &t->operation_cap) = (struct chrome_operation){
        at, thread, region, r->time_ns, is_of_xla && !is_of_gpu(r->category)};
}

/* What XLA wrote of no GPU. */
static bool is_launching_call(const struct chrome_trace *t, const struct chrome_operation *x)
{
    return x->is_of_xla && !t->process[t->thread[x->thread].process].is_gpu;
}

void chrome_trace_end_launches(struct chrome_trace *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_operations; i++) {
        const struct chrome_operation *x = &t->operation[i];

        if (is_launching_call(t, x))
            note_launching_call(t, x->launch, x->thread, x->region, x->begin_ns);
    }
    for (size_t i = 0; i < t->n_operations; i++) {
        const struct chrome_operation *x = &t->operation[i];
        struct chrome_launch *launch = &t->launch[x->launch];

        if (launch->is_ambiguous || is_launching_call(t, x))
            continue;
        launch->has_operations = true;
        t->operation[n++] = *x;
    }
    t->n_operations = n;
}

/* Whose id is not said, its thread says. */
static struct key scoped_id(const struct chrome_record *r)
{
    const struct chrome_id *id = r->id.is_set ? &r->id : &r->tid;
    struct {
        uint64_t scope, text, number, is_set; /* nothing between them */
    } all = {.scope = XXH3_64bits(r->scope, strlen(r->scope)), .is_set = r->id.is_set};
    XXH128_hash_t hash;

    if (id->is_set && id->is_text)
        all.text = XXH3_64bits(id->text, strlen(id->text));
    else if (id->is_set)
        all.number = id->number;
    hash = XXH3_128bits(&all, sizeof all);
    return key_pair(hash.high64, hash.low64);
}

/* Ids of flows are of their category, as those of asynchronous spans are. */
static struct key flow_id(const struct chrome_trace *t, const struct chrome_record *r,
                          uint32_t process)
{
    struct key id = scoped_id(r);
    struct {
        uint64_t high, low, category;
        uint32_t part, process; /* nothing between them */
    } all = {id.high, id.low, XXH3_64bits(r->category, strlen(r->category)),
             (uint32_t)t->n_parts - 1, r->is_local_id ? process : UINT32_MAX};
    XXH128_hash_t hash = XXH3_128bits(&all, sizeof all);

    return key_pair(hash.high64, hash.low64);
}

static void note_flow(struct chrome_trace *t, const struct chrome_record *r)
{
    uint32_t thread = thread_of(t, r);

    if (!r->id.is_set) {
        t->quality->n[QUALITY_bad_record]++;
        return;
    }
    flow_ends_add(&t->flow_ends, flow_id(t, r, t->thread[thread].process),
                  &(struct flow_end){.thread = thread,
                                     .name = XXH3_64bits(r->name, strlen(r->name)),
                                     .time_ns = r->time_ns,
                                     .order = t->n_marks++,
                                     .phase = r->phase});
}

static void push_flow_end(struct chrome_trace *t, const struct flow_end *end, char phase)
{
    if (end)
        push_mark(t, end->thread,
                  &(struct mark){.time_ns = end->time_ns,
                                 .end_ns = end->time_ns,
                                 .ref = (uint32_t)t->n_flows,
                                 .link = MARKS_NO_LINK,
                                 .order = end->order,
                                 .args = KEPT_ARGS_NONE,
                                 .phase = phase});
}

static void end_flow(void *ctx, const struct flow_end *from, const struct flow_end *to)
{
    struct chrome_trace *t = ctx;

    push_flow_end(t, from, 's');
    push_flow_end(t, to, 'f');
    *mem_push(&t->flow, &t->n_flows, &t->flow_cap) = (struct chrome_flow){
        from ? from->thread : CHROME_NOWHERE, to ? to->thread : CHROME_NOWHERE};
}

/* A record has a value or several, which are told apart by their names; counters of one name,
 * by their ids. */
static void note_counter(struct chrome_trace *t, const struct chrome_record *r)
{
    char name[CHROME_NAME + sizeof r->id.text + sizeof r->series->name + 4], id[160] = "";

    t->quality->n[QUALITY_bad_record] += r->n_series == 0;
    t->quality->n[QUALITY_lost_detail] += r->n_lost_series;
    if (r->id.is_set && r->id.is_text)
        snprintf(id, sizeof id, "[%s]", r->id.text);
    else if (r->id.is_set)
        snprintf(id, sizeof id, "[%llu]", (unsigned long long)r->id.number);
    for (uint32_t i = 0; i < r->n_series; i++) {
        const struct chrome_series *s = &r->series[i];
        struct counter_value value = {.is_real = s->is_real};
        struct mark mark = mark_of(t, r, (uint32_t)t->n_values, MARKS_NO_LINK);

        snprintf(name, sizeof name, "%s%s%s%s", r->name, id, r->n_series > 1 ? "." : "",
                 r->n_series > 1 ? s->name : "");
        value.counter = definitions_counter(
            t->defs, name, &(struct counter){COUNTER_ABSOLUTE, COUNTER_UNTIL_NEXT, ""});
        if (s->is_real)
            value.real = s->real;
        else
            value.whole = s->whole;
        t->value = paged_grow(t->paged, t->value, t->n_values, &t->value_cap, t->n_values + 1,
                              sizeof value);
        t->value[t->n_values++] = value;
        push_mark(t, thread_of(t, r), &mark);
    }
}

/* Steps have few names, so there is little to look through. */
static void note_step(struct chrome_trace *t, uint32_t region, uint64_t number)
{
    struct chrome_steps *steps = t->steps;
    size_t i = 0;

    while (i < t->n_steps && steps[i].region != region)
        i++;
    if (i == t->n_steps && i < MAX_STEPS) {
        mem_grow(&t->steps, &t->steps_cap, i + 1);
        t->steps[t->n_steps++] = (struct chrome_steps){region, number, number};
    } else if (i < t->n_steps) {
        steps[i].first = number < steps[i].first ? number : steps[i].first;
        steps[i].last = number > steps[i].last ? number : steps[i].last;
    }
}

/* What a stream was busy with between the first and the last kernel of an annotation. */
static bool is_gpu_annotation(const struct chrome_record *r)
{
    return strcmp(r->category, "gpu_user_annotation") == 0;
}

static uint32_t region_of(struct chrome_trace *t, const struct chrome_record *r)
{
    char name[CHROME_NAME + sizeof ON_GPU];
    uint64_t number = 0;
    bool is_step = record_name(r->name[0] ? r->name : "(no name)", name, CHROME_NAME, &number);
    const char *step = r->arg[ARG_STEP].is_set ? r->arg[ARG_STEP].text : "";
    uint32_t region;

    if (isdigit((unsigned char)*step)) {
        number = strtoull(step, NULL, 10);
        is_step = true;
    }
    if (is_gpu_annotation(r)) {
        strcat(name, ON_GPU);
        is_step = false;
    }
    region = definitions_region(t->defs, name);
    t->defs->region[region].is_step |= is_step;
    if (is_step)
        note_step(t, region, number);
    return region;
}

/* An X without a duration was not over when the trace ended: it is a B without its E. */
static void note_call(struct chrome_trace *t, const struct chrome_record *r)
{
    uint32_t thread = thread_of(t, r), region = ANY_REGION, link = MARKS_NO_LINK;
    struct mark mark;

    if (r->name[0] || r->phase != 'E')
        region = region_of(t, r);
    if (r->phase == 'X') {
        const struct chrome_thread *at = &t->thread[thread];
        struct link_call call = {.region = region,
                                 .name = t->defs->region[region].name,
                                 .thread = thread,
                                 .pid = t->process[at->process].pid,
                                 .tid = at->tid,
                                 .time_ns = r->time_ns,
                                 .end_ns = r->time_ns + (r->has_duration ? r->duration_ns : 0)};

        if (!is_gpu_annotation(r)) { /* it belongs to what the annotation itself does */
            link = links_add(t->links, r, &call);
            note_correlation(t, r, thread, region);
        }
        t->thread[thread].is_gpu |= is_of_gpu(r->category);
        t->thread[thread].is_python |= strcmp(r->category, "python_function") == 0;
        t->thread[thread].n_evaluated += chrome_goes_back(r->name);
    }
    mark = mark_of(t, r, region, link);
    if (r->phase == 'X' && !r->has_duration)
        mark.phase = 'B';
    mark.args = keep_args(t, r);
    push_mark(t, thread, &mark);
}

/* What an end says beside its time is of a call that has its arguments from its begin. */
static void note_async(struct chrome_trace *t, const struct chrome_record *r)
{
    bool is_begin = r->phase == 'b' || r->phase == 'S';
    struct async_event event = {.part = (uint32_t)t->n_parts - 1,
                                .process = process_of(t, r),
                                .category = r->category,
                                .id = scoped_id(r),
                                .is_local = r->is_local_id};

    event.mark =
        mark_of(t, r, r->name[0] || is_begin ? region_of(t, r) : ANY_REGION, MARKS_NO_LINK);
    event.mark.phase = is_begin ? 'b' : 'e';
    if (is_begin)
        event.mark.args = keep_args(t, r);
    else
        t->quality->n[QUALITY_lost_detail] += r->n_details + r->n_lost_details;
    note_time(&t->part[event.part], &event.mark);
    async_spans_add(t->async, &event);
}

static void end_async(void *ctx, const struct async_span *span)
{
    struct chrome_trace *t = ctx;
    uint64_t tid = ASYNC_TID | (uint64_t)span->category << 32 | span->track;
    const char *category = async_spans_category(t->async, span->category);
    uint32_t thread = thread_numbered(t, span->process, tid);
    char name[CHROME_TEXT], number[16] = "";

    if (!t->thread[thread].is_async) {
        if (span->track > 0)
            snprintf(number, sizeof number, ", %u", span->track + 1);
        snprintf(name, sizeof name, "async%s%s%s", *category ? " " : "", category, number);
        rename_to(&t->thread[thread].name, name);
        t->thread[thread].is_async = true;
    }
    push_mark(t, thread, &span->mark);
}

/* The profiler's own, whose "threads" are none: spans of what it recorded. */
static bool is_of_profiler(const struct chrome_record *r)
{
    return strcmp(r->category, "Trace") == 0;
}

static bool is_phase(const struct chrome_record *r, const char *phases)
{
    return r->phase != '\0' && strchr(phases, r->phase) != NULL;
}

static bool is_used(const struct chrome_trace *t, const struct chrome_record *r)
{
    return is_phase(r, t->wants_counters ? "BEXbeSFstfC" : "BEXbeSFstf") && !is_of_profiler(r);
}

static void on_record(void *ctx, const struct chrome_record *r)
{
    struct chrome_trace *t = ctx;

    if (r->phase == 'M')
        note_metadata(t, r);
    else if (!is_used(t, r))
        t->quality->n[r->phase ? QUALITY_ignored_event : QUALITY_bad_record]++;
    else if (r->is_bad || (r->phase == 'X' && r->has_duration && r->duration_ns < 0))
        t->quality->n[QUALITY_bad_value]++;
    else if (!r->has_time || t->n_marks >= UINT32_MAX - CHROME_SERIES)
        t->quality->n[QUALITY_bad_record]++;
    else if (r->phase == 'C')
        note_counter(t, r);
    else if (is_phase(r, "beSF"))
        note_async(t, r);
    else if (is_phase(r, "BEX"))
        note_call(t, r);
    else if (is_relation(r))
        t->thread[thread_of(t, r)].n_forward += r->phase == 's';
    else if (is_launch(r))
        note_launch(t, r);
    else
        note_flow(t, r);
}

/* -------------------------------------------------------------------------- parts */

static void begin_part(struct chrome_trace *t, const char *path)
{
    *mem_push(&t->part, &t->n_parts, &t->part_cap) = (struct chrome_part){
        .path = mem_copy_string(path), .first_ns = INT64_MAX, .last_ns = INT64_MIN};
}

static void on_document(void *ctx, const struct chrome_document *document)
{
    struct chrome_trace *t = ctx;
    struct chrome_part *part = &t->part[t->n_parts - 1];

    part->document = *document;
    if (document->has_rank)
        begin_part(t, part->path);
}

static void on_metadata(void *ctx, const char *key, const char *value)
{
    const struct chrome_trace *t = ctx;

    definitions_metadata(t->defs, &(struct metadata){.key = key, .value = value});
}

int chrome_trace_read(struct chrome_trace *t, const char *path)
{
    struct chrome_sink sink = {.ctx = t,
                               .record = on_record,
                               .document = on_document,
                               .metadata = on_metadata,
                               .wants_counters = t->wants_counters,
                               .wants_arguments = t->wants_arguments,
                               .arg = t->rules.arg,
                               .n_args = t->rules.n_args};
    struct quality before = *t->quality;
    int rc;

    begin_part(t, path);
    rc = chrome_json_read(path, &sink, t->quality);
    if (rc < 0)
        *t->quality = before;
    return rc;
}

int chrome_trace_end(struct chrome_trace *t)
{
    int64_t *last_ns;
    int rc;

    for (size_t i = 0; i < t->n_steps; i++)
        definitions_note(t->defs, "calls of %s have numbers in the trace: %llu to %llu",
                         t->defs->region[t->steps[i].region].short_name,
                         (unsigned long long)t->steps[i].first,
                         (unsigned long long)t->steps[i].last);
    flow_ends_pair(&t->flow_ends, end_flow, t);
    flow_ends_release(&t->flow_ends);
    last_ns = mem_alloc(t->n_parts, sizeof *last_ns);
    for (size_t i = 0; i < t->n_parts; i++)
        last_ns[i] = t->part[i].last_ns;
    rc = async_spans_end(t->async, last_ns, t->quality, end_async, t);
    free(last_ns);
    return rc == 0 ? marks_end(t->marks) : rc;
}
