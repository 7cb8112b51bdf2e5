/* Magic, version, the parts, and a hash of all that comes before it. */
#include "ps/ps_snapshot.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x4d41524150474e53u /* "SNGPARAM" */
#define FORMAT 1u

void ps_snapshot_release(struct ps_snapshot *s)
{
    for (uint32_t i = 0; i < s->n_functions; i++)
        free(s->function[i]);
    free(s->function);
    ps_state_release(&s->state);
    free(s->client);
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
        pack_array(p, s->function[i], strlen(s->function[i]), 1);
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
    pack_u64(p, XXH3_64bits(p->data, p->n));
}

static int write_file(const char *path, const struct pack *p)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int rc;

    if (fd < 0)
        return err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    rc = fs_write_at(fd, p->data, p->n, 0, path);
    if (rc == 0 && fsync(fd) != 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    if (close(fd) != 0 && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    return rc;
}

/* The new name is on disk only when its directory is. */
static void sync_directory(const char *path)
{
    char *copy = mem_copy_string(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

int ps_snapshot_write(const struct ps_snapshot *s, const char *path)
{
    char part[FS_PATH_SIZE];
    struct pack p = {0};
    int rc;

    if (snprintf(part, sizeof part, "%s.part", path) >= FS_PATH_SIZE)
        return err_set(ERR_IO, "path too long: '%.200s...'", path);
    pack_snapshot(s, &p);
    rc = write_file(part, &p);
    if (rc == 0 && rename(part, path) != 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    if (rc == 0)
        sync_directory(path);
    else
        unlink(part);
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
    return n_parts == 1 && n <= 2 * PS_TEXT_MOST + 1;
}

static void unpack_functions(struct ps_snapshot *s, struct pack *p)
{
    uint32_t n = unpack_u32(p);

    p->is_bad |= n > PS_FUNCTIONS_MOST;
    s->function = mem_alloc(p->is_bad ? 0 : n, sizeof *s->function);
    for (uint32_t i = 0; i < n && !p->is_bad; i++) {
        size_t length = unpack_count(p, 1);
        char *bytes = unpack_array(p, length, 1);
        struct sketch sketch;

        sketch_unpack(&sketch, p);
        p->is_bad |= !is_function(bytes, length);
        s->function[i] = mem_alloc(length + 1, 1);
        memcpy(s->function[i], bytes, length);
        s->n_functions = i + 1;
        if (!p->is_bad)
            ps_state_add(&s->state, i, &sketch);
        sketch_release(&sketch);
        free(bytes);
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

int ps_snapshot_unpack(struct ps_snapshot *s, const void *data, size_t bytes)
{
    struct pack p = {.data = (unsigned char *)(uintptr_t)data, .n = bytes};
    uint64_t hash;

    *s = (struct ps_snapshot){0};
    if (unpack_u64(&p) != MAGIC || p.is_bad)
        return err_set(ERR_FORMAT, "not a snapshot of a parameter server");
    if (unpack_u32(&p) != FORMAT)
        return err_set(ERR_FORMAT, "a snapshot of another format");
    s->version = unpack_u64(&p);
    s->round = unpack_u64(&p);
    unpack_functions(s, &p);
    if (!p.is_bad)
        ps_state_unpack_stats(&s->state, &p);
    if (!p.is_bad)
        unpack_clients(s, &p);
    hash = XXH3_64bits(data, p.at);
    if (unpack_u64(&p) != hash || p.is_bad || p.at != p.n) {
        ps_snapshot_release(s);
        return err_set(ERR_FORMAT, "a damaged snapshot");
    }
    return 0;
}

int ps_snapshot_read(struct ps_snapshot *s, const char *path)
{
    const void *data;
    size_t bytes;
    int rc;

    *s = (struct ps_snapshot){0};
    rc = fs_map(path, &data, &bytes);
    if (rc < 0)
        return rc;
    rc = ps_snapshot_unpack(s, data, bytes);
    if (rc < 0)
        rc = err_set(rc, "%s: '%s'", err_message(), path);
    fs_unmap(data, bytes);
    return rc;
}
