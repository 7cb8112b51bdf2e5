/*
 * prov_spool -- rows on their way to a database that may go away: files of frames, written by
 * one thread and read by another, and by the next process when this one is killed.
 *
 *     DIR/STORE/run-RUN-000001.spool ...   segments, each a head and frames, appended only
 *     DIR/STORE/run-RUN.lock               while somebody has them
 *
 *     segment   "snagspl1" | u32 version | u32 0 | i64 run | STORE (32) | u64 0 | u64 checksum
 *     frame     u32 "snfr" | u32 bytes | u64 first | u32 rows | u32 0 | u64 checksum | payload
 *
 * Little-endian; a checksum is XXH3-64, that of a frame over its head and payload. What was
 * appended survives the end of the process in whatever way, not that of the machine. Frames
 * have the numbers of their rows in the run, from 1 and without gaps: who stores them remembers
 * the last with them, so that reading one twice is harmless. A segment is removed when all its
 * rows are stored. No more bytes lie there than was said.
 *
 * What is read may be damaged: a frame that is not as it was written is skipped, and how many
 * rows it had shows in the number of the next.
 */
#ifndef SNAG_PROV_PROV_SPOOL_H
#define SNAG_PROV_PROV_SPOOL_H

#include "base/pack.h"

#include <stdbool.h>
#include <stdint.h>

#define PROV_SPOOL_STORE_SIZE 33              /* 32 characters: which database */
#define PROV_SPOOL_MAX_FRAME_BYTES (1u << 30) /* bytes */

struct prov_spool;

struct prov_spool_opts {
    const char *dir;   /* made when it is not there */
    const char *store; /* 32 letters and digits */
    uint32_t version;  /* of what is in the payloads; others are not read */
    uint64_t most_bytes;
    uint64_t segment_bytes; /* 0: 16 MiB, and of most_bytes an eighth at most */
};

struct prov_frame {
    uint64_t first;      /* number of its first row */
    uint32_t n;          /* rows */
    struct pack payload; /* a reader's; release it when no more is read */
};

/* prov_spool_open -- a new one, of a run that has none. Returns 0, ERR_IO or ERR_EXISTS. */
int prov_spool_open(const struct prov_spool_opts *opts, int64_t run, struct prov_spool **spool);

/*
 * prov_spool_append -- keep rows [first, first + n). Of the thread that writes.
 * Returns 0, ERR_RANGE when there is no room left under most_bytes, or ERR_IO; nothing is kept
 * then.
 */
int prov_spool_append(struct prov_spool *spool, uint64_t first, uint32_t n,
                      const struct pack *payload);

/*
 * prov_spool_read -- the next frame. Of the thread that reads, as the one below.
 * Returns 1, 0 when there is none now, or ERR_IO.
 */
int prov_spool_read(struct prov_spool *spool, struct prov_frame *frame);

/* prov_spool_done -- all rows up to this number are stored, or given up. */
void prov_spool_done(struct prov_spool *spool, uint64_t last);

/* prov_spool_close -- NULL is harmless. What is not stored stays for the next process. */
void prov_spool_close(struct prov_spool *spool);

int64_t prov_spool_run(const struct prov_spool *spool);

/*
 * prov_spool_left -- what a process left behind that is no more: to read, not to append.
 *   own    a run of this process, which is none of these: one spool per process and directory
 *   after  look at runs with larger numbers; out: its run
 * Returns 1, 0 when there is none (more), or ERR_IO. One that cannot be read is logged and
 * left.
 */
int prov_spool_left(const struct prov_spool_opts *opts, int64_t own, int64_t *after,
                    struct prov_spool **spool);

#endif
