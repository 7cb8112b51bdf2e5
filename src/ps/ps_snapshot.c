/* Magic, version, the parts, and a hash of all that comes before it. */
#include "ps/ps_snapshot.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x4d41524150474e53u /* "SNGPARAM" */
#define FORMAT 2u
#define FORMAT_ALONE 1u /* without what is told to another server */
#define MAX_BYTES ((off_t)8 << 30)
#define MAX_VERSION                                                                            \
    ((uint64_t)1 << 62) /* of models, and rounds: what is counted up must not wrap */

void ps_snapshot_release(struct ps_snapshot *s)
{
    for (uint32_t i = 0; i < s->n_functions; i++)
        free(s->function[i]);
    free(s->function);
    ps_state_release(&s->state);
    free(s->client);
    pack_release(&s->upstream);
    *s = (struct ps_snapshot){0};
}

/* -------------------------------------------------------------------------------- writing */

static void pack_snapshot(const struct ps_snapshot *s, struct pack *p)
{
    static const struct sketch none = {.min = UINT64_MAX};

    pack_u64(p, MAGIC);
    pack_u32(p, FORMAT);
    pack_u64(p, s->version);
    pack_u64(p, s->round);
    pack_u32(p, s->n_functions);
    for (uint32_t i = 0; i < s->n_functions; i++) {
        pack_text(p, s->function[i]);
        sketch_pack(i < s->state.n ? &s->state.sketch[i] : &none, p);
    }
    ps_state_pack_stats(&s->state, p);
    pack_u32(p, s->n_clients);
    for (uint32_t i = 0; i < s->n_clients; i++) {
        pack_u64(p, s->client[i].client);
        pack_u64(p, s->client[i].last);
        pack_u64(p, s->client[i].round);
        pack_u32(p, s->client[i].has_left);
    }
    pack_array(p, s->upstream.data, s->upstream.n, 1);
    pack_u64(p, XXH3_64bits(p->data, p->n));
}

int ps_snapshot_lock(const char *path, struct lock_file *lock_file)
{
    char lock[FS_PATH_SIZE + 8];
    const char *name;
    int dir, rc = fs_open_parent(path, &dir, &name);

    if (rc < 0)
        return err_set(rc, "cannot write '%s': %s", path, strerror(errno));
    snprintf(lock, sizeof lock, "%s.lock", name);
    rc = lock_file_take(lock_file, dir, lock, path, 0, LOCK_FILE_ALL);
    if (rc == 0)
        fs_new_clean(dir, name);
    close(dir);
    return rc;
}

int ps_snapshot_write(const struct ps_snapshot *s, const char *path)
{
    struct pack p = {0};
    struct fs_new file;
    int rc = fs_new_open(&file, path);

    if (rc < 0)
        return rc;
    pack_snapshot(s, &p);
    rc = fs_write_at(file.fd, p.data, p.n, 0, path);
    if (rc == 0)
        rc = fs_new_commit(&file);
    fs_new_abandon(&file);
    pack_release(&p);
    return rc;
}

/* -------------------------------------------------------------------------------- reading */

/* "program\nname", without other control characters. */
static bool is_function(const char *text, size_t n)
{
    unsigned n_parts = 0;

    for (size_t i = 0; i < n; i++) {
        n_parts += text[i] == '\n';
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
            return false;
    }
    return n_parts == 1 && n <= 2 * PS_MAX_TEXT_BYTES + 1;
}

static void unpack_functions(struct ps_snapshot *s, struct pack *p)
{
    uint32_t n = unpack_u32(p);

    p->is_bad |= n > PS_MAX_FUNCTIONS;
    s->function = mem_alloc(p->is_bad ? 0 : n, sizeof *s->function);
    for (uint32_t i = 0; i < n && !p->is_bad; i++) {
        size_t length;
        struct sketch sketch;

        s->function[i] = unpack_text(p, &length);
        s->n_functions = i + 1;
        ps_state_unpack_sketch(&sketch, p);
        p->is_bad |= !is_function(s->function[i], length);
        if (!p->is_bad)
            ps_state_add(&s->state, i, &sketch);
        sketch_release(&sketch);
    }
}

static void unpack_clients(struct ps_snapshot *s, struct pack *p)
{
    uint32_t n = unpack_u32(p);

    p->is_bad |= n > (p->n - p->at) / 28;
    if (p->is_bad)
        return;
    s->client = mem_alloc(n, sizeof *s->client);
    s->n_clients = n;
    for (uint32_t i = 0; i < n; i++) {
        s->client[i].client = unpack_u64(p);
        s->client[i].last = s->client[i].saved = unpack_u64(p);
        s->client[i].round = unpack_u64(p);
        s->client[i].has_left = unpack_u32(p) != 0;
    }
}

static void unpack_upstream(struct ps_snapshot *s, struct pack *p)
{
    size_t n = unpack_count(p, 1);
    void *bytes = unpack_array(p, n, 1);

    if (!p->is_bad)
        pack_bytes(&s->upstream, bytes, n);
    free(bytes);
}

/* Whether the hash at the end is that of all before it, whatever it says. */
static bool is_as_written(const void *data, size_t bytes)
{
    uint64_t hash;

    if (bytes < sizeof hash)
        return false;
    memcpy(&hash, (const char *)data + bytes - sizeof hash, sizeof hash);
    return hash == XXH3_64bits(data, bytes - sizeof hash);
}

int ps_snapshot_unpack(struct ps_snapshot *s, const void *data, size_t bytes)
{
    struct pack p = {.data = (unsigned char *)(uintptr_t)data, .n = bytes};
    uint32_t format;
    uint64_t hash;

    *s = (struct ps_snapshot){0};
    if (unpack_u64(&p) != MAGIC || p.is_bad)
        return err_set(ERR_FORMAT, "not a snapshot of a parameter server");
    format = unpack_u32(&p);
    if (format != FORMAT && format != FORMAT_ALONE)
        return err_set(ERR_FORMAT, "a snapshot of another format");
    s->version = unpack_u64(&p);
    s->round = unpack_u64(&p);
    p.is_bad |= s->version > MAX_VERSION || s->round > MAX_VERSION;
    unpack_functions(s, &p);
    if (!p.is_bad)
        ps_state_unpack_stats(&s->state, &p);
    if (!p.is_bad)
        unpack_clients(s, &p);
    if (!p.is_bad && format == FORMAT)
        unpack_upstream(s, &p);
    hash = XXH3_64bits(data, p.at);
    if (unpack_u64(&p) != hash || p.is_bad || p.at != p.n) {
        ps_snapshot_release(s);
        return err_set(ERR_FORMAT, is_as_written(data, bytes)
                                       ? "a snapshot that another version of snag has written"
                                       : "a damaged snapshot");
    }
    return 0;
}

/* The whole file: a copy, as it may be changed while it is looked at. */
static int read_file(const char *path, struct pack *p)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc = 0;
    struct stat info = {0};
    ssize_t n = 1;

    if (fd < 0 || fstat(fd, &info) != 0)
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode) || info.st_size > MAX_BYTES)
        rc = err_set(
            ERR_FORMAT,
            "not a snapshot of a parameter server: '%s' (snag ps --snapshot FILE makes one)",
            path);
    if (rc == 0)
        mem_grow(&p->data, &p->cap, (size_t)info.st_size);
    while (rc == 0 && n > 0 && p->n < (size_t)info.st_size) {
        n = read(fd, p->data + p->n, (size_t)info.st_size - p->n);
        if (n < 0)
            rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
        p->n += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

int ps_snapshot_read(struct ps_snapshot *s, const char *path)
{
    struct pack p = {0};
    int rc = read_file(path, &p);

    *s = (struct ps_snapshot){0};
    if (rc == 0) {
        rc = ps_snapshot_unpack(s, p.data, p.n);
        if (rc < 0)
            rc = err_set(rc, "%s: '%s'", err_message(), path);
    }
    pack_release(&p);
    return rc;
}

bool ps_snapshot_is(const char *path)
{
    const uint64_t magic = MAGIC;

    return fs_begins_with(path, &magic, sizeof magic);
}
