/* Blocks follow each other in the order they were made in; what one of them cannot be is where
 * reading ends. */
#include "trace/tracer/recording.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------- journal */

/* An entry, read from its begin on. */
struct reader {
    const char *at, *end;
    bool is_bad;
};

static uint64_t number(struct reader *r)
{
    uint64_t value = 0;

    if ((size_t)(r->end - r->at) < sizeof value) {
        r->is_bad = true;
        return 0;
    }
    memcpy(&value, r->at, sizeof value);
    r->at += sizeof value;
    return value;
}

static uint32_t small(struct reader *r)
{
    uint64_t value = number(r);

    r->is_bad |= value > UINT32_MAX;
    return (uint32_t)value;
}

static const char *text(struct reader *r)
{
    const char *begin = r->at, *end = memchr(r->at, '\0', (size_t)(r->end - r->at));

    if (end == NULL) {
        r->is_bad = true;
        return "";
    }
    r->at = end + 1;
    return begin;
}

static void read_code(struct recording *r, struct reader *from)
{
    struct recorded_code c = {.path = text(from)};

    c.build_id = text(from);
    mem_grow(&r->code, &r->cap_codes, r->n_codes + 1, sizeof *r->code);
    r->code[r->n_codes++] = c;
}

static void read_region(struct recording *r, struct reader *from)
{
    struct recorded_region g = {.role = small(from)};

    g.paradigm = small(from);
    g.n_plain = small(from);
    g.line = small(from);
    g.code = small(from);
    g.address = number(from);
    g.name = text(from);
    g.file = text(from);
    if (g.code > r->n_codes)
        g.code = 0;
    if (g.n_plain > strlen(g.name))
        g.n_plain = 0;
    mem_grow(&r->region, &r->cap_regions, r->n_regions + 1, sizeof *r->region);
    r->region[r->n_regions++] = g;
}

/* Its runs have as many members as it has. */
static bool is_whole(const struct recorded_communicator *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < c->n_runs; i++)
        n += c->run[i][2];
    return n == c->size;
}

static void read_communicator(struct recording *r, struct reader *from)
{
    struct recorded_communicator c = {.first_rank = small(from), .name = ""};

    c.number = small(from);
    c.parent = small(from);
    c.size = small(from);
    c.run = (const void *)from->at;
    c.n_runs = (size_t)(from->end - from->at) / sizeof *c.run;
    if (!is_whole(&c)) {
        r->is_cut = true;
        c.size = 0;
        c.n_runs = 0;
    }
    mem_grow(&r->communicator, &r->cap_communicators, r->n_communicators + 1,
             sizeof *r->communicator);
    r->communicator[r->n_communicators++] = c;
}

static void read_name(struct recording *r, struct reader *from)
{
    uint64_t of = number(from);

    if (of < r->n_communicators)
        r->communicator[of].name = text(from);
}

static void read_object(struct recording *r, struct reader *from)
{
    struct recorded_object o = {.kind = small(from)};

    o.communicator = small(from);
    o.number = small(from);
    o.file = small(from);
    o.bytes = from->at;
    o.n = (uint32_t)(from->end - from->at);
    if (o.kind >= TRACER_OBJECTS ||
        (o.kind == TRACER_FILE && (o.n == 0 || from->end[-1] != '\0'))) {
        from->is_bad = true;
        o = (struct recorded_object){.kind = TRACER_GROUP};
    }
    mem_grow(&r->object, &r->cap_objects, r->n_objects + 1, sizeof *r->object);
    r->object[r->n_objects++] = o;
}

static void read_team(struct recording *r, struct reader *from)
{
    struct recorded_team t = {.thread = small(from)};

    t.member = (const void *)from->at;
    t.n_words = (size_t)(from->end - from->at) / sizeof *t.member;
    mem_grow(&r->team, &r->cap_teams, r->n_teams + 1, sizeof *r->team);
    r->team[r->n_teams++] = t;
}

static void read_left_out(struct recording *r, struct reader *from)
{
    struct recorded_left_out l = {.region = small(from)};

    l.from_ns = number(from);
    l.n_calls = number(from);
    mem_grow(&r->left_out, &r->cap_left_out, r->n_left_out + 1, sizeof *r->left_out);
    r->left_out[r->n_left_out++] = l;
}

static void read_about(struct recording *r, struct reader *from)
{
    struct recorded_text t = {.key = text(from)};

    t.value = text(from);
    mem_grow(&r->about, &r->cap_about, r->n_about + 1, sizeof *r->about);
    r->about[r->n_about++] = t;
}

static void read_journal(struct recording *r, const struct state_block *block)
{
    static void (*const read[])(struct recording *, struct reader *) = {
        [JOURNAL_CODE] = read_code,
        [JOURNAL_REGION] = read_region,
        [JOURNAL_COMMUNICATOR] = read_communicator,
        [JOURNAL_NAME] = read_name,
        [JOURNAL_OBJECT] = read_object,
        [JOURNAL_TEAM] = read_team,
        [JOURNAL_LEFT_OUT] = read_left_out,
        [JOURNAL_ABOUT] = read_about,
    };
    const char *at = (const char *)(block + 1);
    size_t room = block->bytes - sizeof *block, left = block->n_bytes;

    r->is_cut |= left > room;
    left = left < room ? left : room;
    while (left >= sizeof(struct journal_entry)) {
        const struct journal_entry *entry = (const void *)at;
        struct reader from = {(const char *)entry->number, NULL, false};
        size_t all = (sizeof *entry + (size_t)entry->bytes + 7) & ~(size_t)7;

        if (all > left || entry->kind == 0 || entry->kind >= sizeof read / sizeof *read) {
            r->is_cut = true;
            return;
        }
        from.end = from.at + entry->bytes;
        read[entry->kind](r, &from);
        r->is_cut |= from.is_bad;
        at += all;
        left -= all;
    }
}

/* -------------------------------------------------------------------------------- locations */

/* The block at an offset, of a kind and a thread; NULL if there is none. */
static const struct state_block *block_at(const struct recording *r, uint64_t at, uint32_t kind,
                                          uint32_t thread)
{
    const struct state_block *b;

    if (at < STATE_ALIGNMENT || at % STATE_ALIGNMENT != 0 || at > r->bytes ||
        r->bytes - at < sizeof *b)
        return NULL;
    b = (const void *)(r->data + at);
    if (b->magic != STATE_BLOCK_MAGIC || b->bytes < sizeof *b || b->bytes > r->bytes - at)
        return NULL;
    return kind == 0 || (b->kind == kind && b->thread == thread) ? b : NULL;
}

/* The records that are in the slots, and in no chunk. */
static void find_slots(struct recorded_location *l)
{
    const struct state_location *s = l->state;
    uint64_t n = (s->next - s->first_slot) / sizeof *s->slot;
    uint64_t done = l->commit->n_slots - s->n_slots_before;

    l->slot = s->slot;
    if (s->next < s->first_slot || n > CHUNK_SLOTS || l->commit->n_slots < s->n_slots_before)
        return;
    if (done < n) {
        l->slot = s->slot + done;
        l->n_slots = n - done;
    }
}

static void find_chunk(const struct recording *r, struct recorded_location *l)
{
    const struct state_block *b =
        block_at(r, l->state->chunk_at, STATE_CHUNK, l->state->block.thread);

    if (b && l->commit->n_bytes <= b->bytes - sizeof *b)
        l->chunk = (const uint8_t *)(b + 1);
}

static void find_open(const struct recording *r, struct recorded_location *l)
{
    const struct state_block *b;

    if (l->state->open_at == 0) {
        l->open = l->state->open;
        l->n_open = STATE_OPEN_CALLS;
        return;
    }
    b = block_at(r, l->state->open_at, STATE_OPEN, l->state->block.thread);
    if (b) {
        l->open = (const void *)(b + 1);
        l->n_open = (b->bytes - sizeof *b) / sizeof *l->open;
    }
}

static void read_location(struct recording *r, const struct state_block *block)
{
    struct recorded_location l = {.state = (const void *)block};

    if (block->bytes < sizeof *l.state) {
        r->is_cut = true;
        return;
    }
    l.commit = &l.state->commit[l.state->current & 1];
    find_chunk(r, &l);
    find_slots(&l);
    find_open(r, &l);
    r->is_cut |= l.chunk == NULL && l.commit->n_bytes > 0;
    mem_grow(&r->location, &r->cap_locations, r->n_locations + 1, sizeof *r->location);
    r->location[r->n_locations++] = l;
}

/* --------------------------------------------------------------------------------- the file */

/* Of a process that could not even keep that of its first thread. */
static const struct state_location none = {.block = {.bytes = sizeof none}};

static void read_blocks(struct recording *r)
{
    uint64_t at = r->head->first_at, last = 0;

    while (at != 0) {
        const struct state_block *b = at > last ? block_at(r, at, 0, 0) : NULL;

        if (b == NULL) {
            r->is_cut = true;
            return;
        }
        if (b->kind == STATE_JOURNAL)
            read_journal(r, b);
        if (b->kind == STATE_LOCATION)
            read_location(r, b);
        last = at;
        at = b->next_at;
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct recorded_location *x = a, *y = b;

    return (x->state->block.thread > y->state->block.thread) -
           (x->state->block.thread < y->state->block.thread);
}

int recording_open(struct recording *r, const char *path)
{
    const void *data;
    int rc;

    *r = (struct recording){0};
    rc = fs_map(path, &data, &r->bytes);
    if (rc < 0)
        return rc;
    r->data = data;
    r->head = data;
    if (r->bytes == 0 || *r->data == '\0')
        return err_set(ERR_NOT_FOUND, "in '%s' nothing was recorded yet", path);
    if (r->bytes < sizeof *r->head ||
        memcmp(r->head->magic, STATE_MAGIC, sizeof r->head->magic - 1) != 0)
        return err_set(ERR_FORMAT, "'%s' is not what the tracer keeps of a process", path);
    if (memcmp(r->head->magic, STATE_MAGIC, sizeof r->head->magic) != 0 ||
        r->head->head_bytes != sizeof *r->head ||
        memchr(r->head->host, '\0', sizeof r->head->host) == NULL)
        return err_set(ERR_FORMAT,
                       "'%s' is of another version of the tracer: finish it with that", path);
    return 0;
}

void recording_read(struct recording *r)
{
    read_blocks(r);
    if (r->n_locations == 0)
        read_location(r, &none.block);
    else
        qsort(r->location, r->n_locations, sizeof *r->location, by_thread);
}

void recording_close(struct recording *r)
{
    free(r->location);
    free(r->code);
    free(r->region);
    free(r->communicator);
    free(r->object);
    free(r->team);
    free(r->left_out);
    free(r->about);
    if (r->data)
        fs_unmap(r->data, r->bytes);
    *r = (struct recording){0};
}

uint32_t recording_n_offsets(const struct state_head *head)
{
    uint32_t n = head->n_offsets;

    return n < STATE_OFFSETS ? n : STATE_OFFSETS;
}

uint64_t recording_time(const struct state_head *head, uint64_t time_ns)
{
    const struct state_offset *begin = &head->offset[0], *end = &head->offset[1];
    uint32_t n = recording_n_offsets(head);
    double slope = 0;

    if (n == 0)
        return time_ns;
    if (n > 1 && end->time_ns > begin->time_ns)
        slope = (double)(end->offset_ns - begin->offset_ns) /
                (double)(end->time_ns - begin->time_ns);
    return time_ns + (uint64_t)begin->offset_ns +
           (uint64_t)(int64_t)(slope * (double)(int64_t)(time_ns - begin->time_ns));
}

/* It has a lock on its file as long as it lives. Where files cannot be locked the process is
 * looked for, if it is of this machine. */
bool recording_is_alive(const struct recording *r, const char *path)
{
    char host[STATE_HOST] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC), error;

    if (r->head->ending != STATE_RUNS || fd < 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    error = flock(fd, LOCK_SH | LOCK_NB) == 0 ? 0 : errno;
    close(fd);
    if (error == 0 || error == EWOULDBLOCK)
        return error != 0;
    gethostname(host, sizeof host - 1);
    return strcmp(host, r->head->host) == 0 && (kill(r->head->pid, 0) == 0 || errno == EPERM);
}
