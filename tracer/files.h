/*
 * files -- MPI-IO, as OTF2's records of input and output have it:
 *
 *     MPI_File_open, MPI_File_close    IoCreateHandle, IoDestroyHandle, where they return
 *     reading, writing, MPI_File_sync  IoOperationBegin where the call begins,
 *                                      IoOperationComplete where it returns
 *     MPI_File_iread, its like         IoOperationBegin, IoOperationIssued; Complete by MPI_Wait
 *     MPI_File_read_all_begin, _end    likewise, Complete by the end
 *     MPI_File_seek                    IoSeek, in units of the file's view
 *     MPI_File_delete                  IoDeleteFile
 *
 * The bytes of a completion are those that MPI says were read or written. On a file of a
 * communicator that we do not know only the calls are recorded.
 */
#ifndef SNAG_TRACER_FILES_H
#define SNAG_TRACER_FILES_H

#include "open_requests.h"
#include "wrap.h"

/* file_opened -- after MPI_File_open, or NULL if that failed. Collective over comm.
 *   access  MPI's */
void file_opened(struct call *call, MPI_Comm comm, const char *name, int access,
                 const MPI_File *file);

/* file_closing, file_closed -- before MPI_File_close and after; the former gives the file. */
struct open_file *file_closing(MPI_File file);
void file_closed(struct open_file *file, struct call *call);

void file_sought(struct call *call, MPI_File file, MPI_Offset offset, int whence);
void file_deleted(struct call *call, const char *name);

/* A read, write or flush; file is NULL if it has no records. */
struct io {
    struct open_file *file;
    uint64_t id;
};

/* io_starts -- before MPI is called. flags: OTF2_IoOperationFlag */
void io_starts(struct io *io, const struct call *call, OTF2_IoOperationMode mode,
               uint32_t flags, uint64_t bytes, MPI_File file);

/* io_ends -- MPI is done with it; status: NULL if it failed, or has none. */
void io_ends(const struct io *io, struct call *call, const MPI_Status *status);

/* io_opened -- there is a request for it; io_complete: that is complete. */
void io_opened(const struct io *io, struct call *call, struct request_list request);
void io_complete(const struct open_request *r, const MPI_Status *status, uint64_t time_ns);

/* io_split, io_joined -- it is one of those in two calls: the first returns, the second does.
 */
void io_split(const struct io *io, struct call *call);
void io_joined(struct call *call, MPI_File file, const MPI_Status *status);

#endif
