/*
 * objects -- local numbers for what one-sided communication and files are recorded with: the
 * windows, the groups of processes that open an epoch, the files and their handles.
 *
 * Nobody has to tell the other ranks which of them are the same. A window or a handle is made
 * by all members of a communicator together, so it is known in all of them by that communicator
 * and how many were made in it before; a file by its name, a group by its members.
 */
#ifndef SNAG_TRACER_OBJECTS_H
#define SNAG_TRACER_OBJECTS_H

#include "trace/tracer/tracer_numbers.h"

#include <stdbool.h>
#include <stdint.h>

#define OBJECT_NONE UINT32_MAX

/* As they are numbered on the wire. */
enum object_kind {
    OBJECT_WINDOW = TRACER_WINDOW,
    OBJECT_GROUP = TRACER_GROUP,
    OBJECT_FILE = TRACER_FILE,
    OBJECT_HANDLE = TRACER_HANDLE,
    N_OBJECT_KINDS
};

struct object {
    enum object_kind kind;
    uint32_t communicator; /* of a window or a handle: a local id; else COMMUNICATOR_NONE */
    uint32_t number;       /* of these: how many were made before in the communicator */
    uint32_t file;         /* of a handle: the object; else OBJECT_NONE */
    uint32_t n;            /* bytes */
    void *bytes;           /* [n] the name of a file; the members of a group, uint32_t each,
                              as ranks of MPI_COMM_WORLD */
};

/*
 * object_window, object_handle, object_group, object_file -- the number of a window or a handle
 * that is made just now, of a group or a file that may be known. Each has to be asked for on
 * all members of the communicator, whether anything of it is recorded or not. OBJECT_NONE for
 * those of a communicator that is not known, and when there are too many. Thread-safe. member
 * (n) ranks of MPI_COMM_WORLD
 */
uint32_t object_window(uint32_t communicator);
uint32_t object_handle(uint32_t communicator, const char *file_name);
uint32_t object_group(const uint32_t *member, uint32_t n);
uint32_t object_file(const char *name);

/* objects_count -- how many there are by now. */
uint32_t objects_count(void);

/* objects_each -- those from one local number on, to before another, which was an
 * objects_count. */
void objects_each(uint32_t begin, uint32_t end, void (*each)(void *ctx, const struct object *o),
                  void *ctx);

#endif
