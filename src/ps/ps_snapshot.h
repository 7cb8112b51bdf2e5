/*
 * ps_snapshot -- what a parameter server knows, as a file.
 *
 * It is written under another name, synchronised and renamed, so that the file is the old
 * snapshot or the new one whenever the machine or the program dies. It holds how far every
 * client's deltas were counted, so that a delta that is sent again is known for one.
 *
 *     FILE   FILE.lock while a server writes it   FILE.part-0123456789abcdef, for a moment
 */
#ifndef SNAG_PS_SNAPSHOT_H
#define SNAG_PS_SNAPSHOT_H

#include "base/lock_file.h"
#include "ps/ps_state.h"

#include <stdbool.h>

struct ps_client_record {
    uint64_t client, last; /* its id, its last sequence that is counted */
    uint64_t saved;        /* ... that is on disk */
    uint64_t round;        /* that it took part in last */
    bool has_left;         /* takes part in no more rounds */
};

struct ps_snapshot {
    uint64_t version, round;
    uint32_t n_functions;
    char **function;       /* [n_functions] "program\nname", in the order of their indices */
    struct ps_state state; /* slots are the indices */
    uint32_t n_clients;
    struct ps_client_record *client; /* [n_clients] */
    struct pack upstream;            /* of a server below another: see ps_client_pack */
};

void ps_snapshot_release(struct ps_snapshot *snapshot);

/*
 * ps_snapshot_lock -- from now on this process alone writes the file; what a server that was
 * killed has left half-written is removed. Returns 0, ERR_EXISTS when another one does, or
 * ERR_IO.
 */
int ps_snapshot_lock(const char *path, struct lock_file *lock_file);

/* ps_snapshot_write -- Returns 0 or ERR_IO; a file that was there is kept then. */
int ps_snapshot_write(const struct ps_snapshot *snapshot, const char *path);

/* ps_snapshot_read -- Returns 0, ERR_IO or ERR_FORMAT. The snapshot is zeroed before. */
int ps_snapshot_read(struct ps_snapshot *snapshot, const char *path);

/* ps_snapshot_is -- whether a file begins as one. */
bool ps_snapshot_is(const char *path);

/* ps_snapshot_unpack -- the bytes of such a file. Returns 0 or ERR_FORMAT. */
int ps_snapshot_unpack(struct ps_snapshot *snapshot, const void *data, size_t bytes);

#endif
