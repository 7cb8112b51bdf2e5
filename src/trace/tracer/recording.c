/*
 * Blocks follow each other in the order they were made in; what one of them cannot be is where
 * reading ends. Put together, a communicator's parent and an object's file have lower numbers
 * in the process, so theirs in the archive are known when it comes.
 */
#include "trace/tracer/recording.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------- journal */

/* An entry, read from its begin on. */
struct entry_reader {
    const char *at, *end;
    bool is_bad;
};

static uint64_t number(struct entry_reader *r)
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

static uint32_t small(struct entry_reader *r)
{
    uint64_t value = number(r);

    r->is_bad |= value > UINT32_MAX;
    return (uint32_t)value;
}

static const char *text(struct entry_reader *r)
{
    const char *begin = r->at, *end = memchr(r->at, '\0', (size_t)(r->end - r->at));

    if (end == NULL) {
        r->is_bad = true;
        return "";
    }
    r->at = end + 1;
    return begin;
}

static void read_code(struct recording *r, struct entry_reader *from)
{
    struct recorded_code c = {.path = text(from)};

    c.build_id = text(from);
    *mem_push(&r->code, &r->n_codes, &r->cap_codes) = c;
}

static void read_region(struct recording *r, struct entry_reader *from)
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
    *mem_push(&r->region, &r->n_regions, &r->cap_regions) = g;
}

/* Its runs have as many members as it has. */
static bool is_whole(const struct recorded_communicator *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < c->n_runs; i++)
        n += c->run[i][2];
    return n == c->size;
}

static void read_communicator(struct recording *r, struct entry_reader *from)
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
    *mem_push(&r->communicator, &r->n_communicators, &r->cap_communicators) = c;
}

static void read_name(struct recording *r, struct entry_reader *from)
{
    uint64_t of = number(from);

    if (of < r->n_communicators)
        r->communicator[of].name = text(from);
}

static void read_object(struct recording *r, struct entry_reader *from)
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
    *mem_push(&r->object, &r->n_objects, &r->cap_objects) = o;
}

static void read_team(struct recording *r, struct entry_reader *from)
{
    struct recorded_team t = {.thread = small(from)};

    t.member = (const void *)from->at;
    t.n_words = (size_t)(from->end - from->at) / sizeof *t.member;
    *mem_push(&r->team, &r->n_teams, &r->cap_teams) = t;
}

static void read_left_out(struct recording *r, struct entry_reader *from)
{
    struct recorded_left_out l = {.region = small(from)};

    l.from_ns = number(from);
    l.n_calls = number(from);
    *mem_push(&r->left_out, &r->n_left_out, &r->cap_left_out) = l;
}

static void read_about(struct recording *r, struct entry_reader *from)
{
    struct recorded_text t = {.key = text(from)};

    t.value = text(from);
    *mem_push(&r->about, &r->n_about, &r->cap_about) = t;
}

static void read_journal(struct recording *r, const struct state_block *block)
{
    static void (*const read[])(struct recording *, struct entry_reader *) = {
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
        struct entry_reader from = {(const char *)entry->number, NULL, false};
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
    *mem_push(&r->location, &r->n_locations, &r->cap_locations) = l;
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

    return ORDER(x->state->block.thread, y->state->block.thread);
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
    uint32_t n = recording_n_offsets(head);

    return n > 0 ? state_offset_apply(time_ns, &head->offset[0], &head->offset[n - 1])
                 : time_ns;
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

/* ------------------------------------------------------------------------- of all processes */

static uint32_t add_region(struct unified *u, const struct recording *from,
                           const struct recorded_region *r)
{
    uint32_t n = u->region_name.n, id = names_add(&u->region_name, r->name);

    if (id < n)
        return id;
    mem_grow(&u->region, &u->cap_regions, (size_t)id + 1);
    u->region[id] = (struct unified_region){.as = r,
                                            .code = r->code ? &from->code[r->code - 1] : NULL,
                                            .file = r->file,
                                            .line = r->line};
    return id;
}

static uint32_t new_communicator(struct unified *u, struct unified_communicator c)
{
    c.group = UNIFY_FIRST_GROUP + u->n_groups++;
    mem_grow(&u->communicator, &u->cap_communicators, u->n_communicators + 1);
    u->communicator[u->n_communicators] = c;
    return (uint32_t)u->n_communicators++;
}

/* The communicator with this pair, defined anew if it is not known. */
static uint32_t find_communicator(struct unified *u, const struct unified_communicator *c)
{
    uint32_t n = u->pair.n, at = idmap_add(&u->pair, key_pair(c->first_rank, c->number));

    if (at == n) {
        mem_grow(&u->of_pair, &u->cap_pairs, (size_t)at + 1);
        u->of_pair[at] = new_communicator(u, *c);
    }
    return u->of_pair[at];
}

static uint32_t add_communicator(struct unified *u, const struct recorded_communicator *c,
                                 uint32_t local, const uint32_t *so_far)
{
    struct unified_communicator one = {.first_rank = c->first_rank,
                                       .number = c->number,
                                       .parent =
                                           c->parent < local ? so_far[c->parent] : UNIFY_NONE,
                                       .size = c->size,
                                       .run = c->run,
                                       .n_runs = c->n_runs,
                                       .name = c->name};
    uint32_t id;

    /* each rank has one of these, which in an archive are one */
    if (local == UNIFY_SELF && u->n_communicators > UNIFY_SELF)
        return UNIFY_SELF;
    id = local == UNIFY_SELF ? new_communicator(u, one) : find_communicator(u, &one);
    if (*u->communicator[id].name == '\0')
        u->communicator[id].name = c->name;
    return id;
}

static uint32_t add_team(struct unified *u, const struct recording *from, uint32_t i)
{
    struct unified_communicator team = {.first_rank = from->head->rank,
                                        .number = UNIFY_TEAM + i,
                                        .parent = UNIFY_NONE,
                                        .name = "",
                                        .team = &from->team[i]};

    return find_communicator(u, &team);
}

/* The place of an object, which is defined anew if it is not known. */
static uint32_t find_object(struct unified *u, struct unified_object o)
{
    uint32_t known_by[] = {o.kind, o.communicator, o.number, o.file};
    uint32_t n = u->object_key.n, at;

    at = idmap_add(&u->object_key,
                   key_pair(checksum_of(known_by, sizeof known_by), checksum_of(o.bytes, o.n)));
    if (at < n)
        return u->of_key[at];
    mem_grow(&u->of_key, &u->cap_keys, (size_t)at + 1);
    o.place =
        o.kind == TRACER_GROUP ? UNIFY_FIRST_GROUP + u->n_groups++ : u->n_of_kind[o.kind]++;
    u->of_key[at] = o.place;
    *mem_push(&u->object, &u->n_objects, &u->cap_objects) = o;
    return o.place;
}

static uint32_t add_object(struct unified *u, const struct recording *from, uint32_t i,
                           const struct unified_map *map)
{
    const struct recorded_object *r = &from->object[i];
    struct unified_object o = {.kind = r->kind,
                               .number = r->number,
                               .communicator = r->communicator < from->n_communicators
                                                   ? map->communicator[r->communicator]
                                                   : UNIFY_NONE,
                               .file = r->file < i && from->object[r->file].kind == TRACER_FILE
                                           ? map->object[r->file]
                                           : UNIFY_NONE,
                               .bytes = r->bytes,
                               .n = r->n};

    if (o.kind == TRACER_HANDLE && o.file == UNIFY_NONE) /* damaged */
        o = (struct unified_object){.kind = TRACER_GROUP, .file = UNIFY_NONE};
    return find_object(u, o);
}

void unify_add(struct unified *u, const struct recording *from, struct unified_map *map)
{
    *map = (struct unified_map){.region = mem_alloc(from->n_regions, sizeof *map->region),
                                .communicator =
                                    mem_alloc(from->n_communicators, sizeof *map->communicator),
                                .team = mem_alloc(from->n_teams, sizeof *map->team),
                                .object = mem_alloc(from->n_objects, sizeof *map->object)};
    for (uint32_t i = 0; i < from->n_regions; i++)
        map->region[i] = add_region(u, from, &from->region[i]);
    for (uint32_t i = 0; i < from->n_communicators; i++)
        map->communicator[i] =
            add_communicator(u, &from->communicator[i], i, map->communicator);
    for (uint32_t i = 0; i < from->n_teams; i++)
        map->team[i] = add_team(u, from, i);
    for (uint32_t i = 0; i < from->n_objects; i++)
        map->object[i] = add_object(u, from, i, map);
}

void unified_map_release(struct unified_map *map)
{
    free(map->region);
    free(map->communicator);
    free(map->team);
    free(map->object);
    *map = (struct unified_map){0};
}

void unified_release(struct unified *u)
{
    names_release(&u->region_name);
    idmap_release(&u->pair);
    idmap_release(&u->object_key);
    free(u->region);
    free(u->communicator);
    free(u->object);
    free(u->of_pair);
    free(u->of_key);
    *u = (struct unified){0};
}
