/* A file has one operation in two calls at a time, which stands with it. */
#include "files.h"

#include "communicator_handles.h"
#include "handle_map.h"
#include "memory.h"
#include "objects.h"
#include "recorder.h"
#include "session.h"

#include <stdlib.h>

struct open_file {
    uint32_t object;
    uint64_t split; /* the operation that was begun; 0: none */
};

static struct handle_map files = HANDLE_MAP_EMPTY;

static uint64_t bits_of(MPI_File file)
{
    uint64_t bits = 0;

    memcpy(&bits, &file, sizeof file);
    return bits;
}

static struct open_file *file_of(MPI_File file)
{
    return handle_map_get(&files, bits_of(file));
}

/* ----------------------------------------------------------------------- open and closed */

static uint32_t mode_of(int access)
{
    return access & MPI_MODE_RDWR     ? OTF2_IO_ACCESS_MODE_READ_WRITE
           : access & MPI_MODE_WRONLY ? OTF2_IO_ACCESS_MODE_WRITE_ONLY
                                      : OTF2_IO_ACCESS_MODE_READ_ONLY;
}

static uint32_t creation_of(int access)
{
    return (access & MPI_MODE_CREATE ? OTF2_IO_CREATION_FLAG_CREATE : 0u) |
           (access & MPI_MODE_EXCL ? OTF2_IO_CREATION_FLAG_EXCLUSIVE : 0u) |
           (access & MPI_MODE_SEQUENTIAL ? OTF2_IO_CREATION_FLAG_NO_SEEK : 0u) |
           (access & MPI_MODE_UNIQUE_OPEN ? OTF2_IO_CREATION_FLAG_UNIQUE : 0u);
}

static uint32_t status_of(int access)
{
    return (access & MPI_MODE_APPEND ? OTF2_IO_STATUS_FLAG_APPEND : 0u) |
           (access & MPI_MODE_DELETE_ON_CLOSE ? OTF2_IO_STATUS_FLAG_DELETE_ON_CLOSE : 0u);
}

/* One that could not be opened has a number too, as it may have been opened elsewhere. */
void file_opened(struct call *call, MPI_Comm comm, const char *name, int access,
                 const MPI_File *file)
{
    uint32_t object =
        session_is_open() ? object_handle(communicator_id(comm), name) : OBJECT_NONE;
    struct open_file *f;

    if (object == OBJECT_NONE || file == NULL)
        return;
    f = memory_resize(NULL, 1, sizeof *f);
    *f = (struct open_file){.object = object};
    handle_map_put(&files, bits_of(*file), f);
    if (call->is_recorded)
        record_access(RECORD_FILE_OPEN,
                      &(struct object_access){.object = object,
                                              .peer = mode_of(access),
                                              .how = creation_of(access),
                                              .id = status_of(access)},
                      call_returned(call));
}

struct open_file *file_closing(MPI_File file)
{
    return handle_map_take(&files, bits_of(file));
}

void file_closed(struct open_file *f, struct call *call)
{
    if (f)
        record_access(RECORD_FILE_CLOSE, &(struct object_access){.object = f->object},
                      call_returned(call));
    memory_free(f);
}

void file_deleted(struct call *call, const char *name)
{
    uint32_t object = session_is_open() ? object_file(name) : OBJECT_NONE;

    if (object != OBJECT_NONE)
        record_access(RECORD_FILE_DELETE, &(struct object_access){.object = object},
                      call_returned(call));
}

void file_sought(struct call *call, MPI_File file, MPI_Offset offset, int whence)
{
    const struct open_file *f = file_of(file);
    MPI_Offset result = 0;

    if (f == NULL || PMPI_File_get_position(file, &result) != MPI_SUCCESS)
        return;
    record_access(
        RECORD_FILE_SEEK,
        &(struct object_access){.object = f->object,
                                .how = whence == MPI_SEEK_SET   ? OTF2_IO_SEEK_FROM_START
                                       : whence == MPI_SEEK_CUR ? OTF2_IO_SEEK_FROM_CURRENT
                                                                : OTF2_IO_SEEK_FROM_END,
                                .bytes = (uint64_t)offset,
                                .received_bytes = (uint64_t)result},
        call_returned(call));
}

/* ---------------------------------------------------------------------------- operations */

static void record_end(uint32_t object, uint64_t id, const MPI_Status *status, uint64_t time_ns)
{
    record_access(RECORD_IO_COMPLETE,
                  &(struct object_access){
                      .object = object, .id = id, .bytes = status ? bytes_received(status) : 0},
                  time_ns);
}

void io_starts(struct io *io, const struct call *call, OTF2_IoOperationMode mode,
               uint32_t flags, uint64_t bytes, MPI_File file)
{
    *io = (struct io){.file = file_of(file)};
    if (io->file == NULL)
        return;
    io->id = request_id();
    record_access(RECORD_IO_BEGIN,
                  &(struct object_access){.object = io->file->object,
                                          .peer = mode,
                                          .how = flags,
                                          .id = io->id,
                                          .bytes = bytes},
                  call->begin_ns);
}

void io_ends(const struct io *io, struct call *call, const MPI_Status *status)
{
    if (io->file)
        record_end(io->file->object, io->id, status, call_returned(call));
}

static void record_issued(const struct io *io, struct call *call)
{
    record_access(RECORD_IO_ISSUED,
                  &(struct object_access){.object = io->file->object, .id = io->id},
                  call_returned(call));
}

void io_opened(const struct io *io, struct call *call, struct request_list request)
{
    struct open_request r = {.kind = REQUEST_SILENT, .is_active = true};

    if (io->file) {
        record_issued(io, call);
        r.kind = REQUEST_IO;
        r.id = io->id;
        r.object = io->file->object;
    }
    r.key = request_key(request, 0);
    request_put(&r);
}

void io_complete(const struct open_request *r, const MPI_Status *status, uint64_t time_ns)
{
    record_end(r->object, r->id, status, time_ns);
}

void io_split(const struct io *io, struct call *call)
{
    if (io->file == NULL)
        return;
    record_issued(io, call);
    io->file->split = io->id;
}

void io_joined(struct call *call, MPI_File file, const MPI_Status *status)
{
    struct open_file *f = file_of(file);

    if (f == NULL || f->split == 0)
        return;
    record_end(f->object, f->split, status, call_returned(call));
    f->split = 0;
}
