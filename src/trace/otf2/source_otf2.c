/*
 * source_otf2 -- OTF2 archives, as Score-P, TAU, EZTrace and Extrae write them.
 *
 * Definitions are read by libotf2, events by otf2_decode, location by location: a reader per
 * thread. Events that only libotf2 can decode (compressed, or in SIONlib's containers) go
 * through its local readers; its merging global reader needs memory for every location and
 * fails when a single file is missing. What libotf2 3.0 does that one has to know:
 *
 *  - past the end, ReadLocalEvents starts again from the beginning: fewer records than asked
 *    for, or any error, is the end;
 *  - where a file was cut off it may hand out the same chunk for ever: a location has no more
 *    events than its definition says;
 *  - it corrects clocks only between two ClockOffset records: we do it ourselves (otf2_definitions.h);
 *  - a location's own ids (mapping tables) are in its local definitions, which must be read
 *    before its events; a missing definition file is not an error;
 *  - it prints errors on stderr unless a callback takes them;
 *  - it takes, clears and gives back a buffer of 4 MiB for every file of definitions.
 */
#include "trace/source.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/otf2/otf2_decode.h"
#include "trace/otf2/otf2_library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (24 << 20) /* more than libotf2 has in use at a time */

#define MIN_SAID 2u /* EZTrace's definitions say 2 events whatever there are */

struct otf2 {
    char anchor[FS_PATH_SIZE]; /* the .otf2 file */
    char files[FS_PATH_SIZE];  /* the directory of event files */
    bool has_local_files;      /* some location has a file of definitions */
    bool needs_library;        /* its events are in a form that only libotf2 can decode */
    uint64_t chunk_bytes;      /* of event files */
    struct otf2_tables tables;
    const struct definitions *defs;
};

struct otf2_reader {
    const struct otf2 *archive;
    OTF2_Reader *reader;
    OTF2_DefReaderCallbacks *local_callbacks;
    bool can_open_local_files;

    const struct location *location;
    struct ticks ticks;
    struct otf2_events events;
    uint64_t n_read;
    bool is_at_end; /* or there is nothing to read */
    struct otf2_file file;

    OTF2_EvtReader *library; /* reads the current location, if that is not for otf2_file */
    OTF2_EvtReaderCallbacks *callbacks;
};

/* ------------------------------------------------------------------ finding the archive */

/* The one anchor file in a directory, preferring traces.otf2. False if there is none. */
static bool find_anchor(const char *dir, char out[FS_PATH_SIZE])
{
    DIR *files = opendir(dir);
    struct dirent *file;
    bool is_found = false;

    while (files && (file = readdir(files)) != NULL) {
        if (!text_ends_with(file->d_name, strlen(file->d_name), ".otf2") ||
            (is_found && strcmp(file->d_name, "traces.otf2") != 0))
            continue;
        is_found = fs_join(out, dir, file->d_name) == 0;
    }
    if (files)
        closedir(files);
    return is_found;
}

static bool accepts(const char *path)
{
    char anchor[FS_PATH_SIZE];

    return text_ends_with(path, strlen(path), ".otf2") ||
           (fs_is_directory(path) && find_anchor(path, anchor));
}

static int locate(struct otf2 *archive, const char *path)
{
    struct stat info;
    bool is_empty;
    int fd;

    if (fs_is_directory(path)) {
        if (!find_anchor(path, archive->anchor))
            return err_set(ERR_NOT_FOUND, "no OTF2 archive in directory '%s'", path);
    } else if (snprintf(archive->anchor, FS_PATH_SIZE, "%s", path) >= FS_PATH_SIZE) {
        return err_set(ERR_RANGE, "path too long: '%.200s...'", path);
    }
    fd = open(archive->anchor, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT
                   ? err_set(ERR_NOT_FOUND, "no such trace: '%s'", archive->anchor)
                   : err_set(ERR_IO, "cannot open '%s': %s", archive->anchor, strerror(errno));
    is_empty = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
    close(fd);
    if (is_empty)
        return err_set(ERR_FORMAT, "not a trace: '%s' is empty", archive->anchor);
    snprintf(archive->files, FS_PATH_SIZE, "%.*s",
             (int)(strlen(archive->anchor) - strlen(".otf2")), archive->anchor);
    return 0;
}

/* libotf2's own messages are dropped: what they mean for a reader is counted or said by us. */
static OTF2_ErrorCode ignore_message(void *arg, const char *file, uint64_t line,
                                     const char *function, OTF2_ErrorCode code,
                                     const char *format, va_list args)
{
    (void)arg, (void)file, (void)line, (void)function, (void)format, (void)args;
    return code;
}

static int open_reader(const struct otf2 *archive, OTF2_Reader **out)
{
    errno = 0;
    *out = OTF2_Reader_Open(archive->anchor);
    if (*out == NULL && fs_is_out_of(errno))
        return err_set(ERR_IO, "cannot open '%s': %s", archive->anchor, strerror(errno));
    if (*out && OTF2_Reader_SetSerialCollectiveCallbacks(*out) == OTF2_SUCCESS)
        return 0;
    if (*out)
        OTF2_Reader_Close(*out);
    *out = NULL;
    return err_set(ERR_FORMAT, "not a readable OTF2 archive: '%s'", archive->anchor);
}

static bool has_local_files(const char *dir)
{
    DIR *files = opendir(dir);
    struct dirent *file;
    bool is_found = false;

    while (files && !is_found && (file = readdir(files)) != NULL)
        is_found = text_ends_with(file->d_name, strlen(file->d_name), ".def");
    if (files)
        closedir(files);
    return is_found;
}

/*
 * Taking large memory of the calling thread and giving it back: libotf2's buffers then come
 * from there, time and again, and it lies on huge pages. Touching them would be a tenth of all
 * that a short location takes. What is never touched costs nothing.
 */
static void prepare_buffers(void)
{
    mallopt(M_MMAP_THRESHOLD, BUFFER_BYTES + (1 << 20));
    mallopt(M_TRIM_THRESHOLD, 2 * BUFFER_BYTES);
    free(mem_resize(NULL, BUFFER_BYTES, 1));
}

/* How the archive keeps its events. */
static int read_anchor(struct otf2 *archive, OTF2_Reader *reader)
{
    OTF2_FileSubstrate substrate;
    OTF2_Compression compression;
    uint64_t definition_bytes;

    if (OTF2_Reader_GetFileSubstrate(reader, &substrate) != OTF2_SUCCESS ||
        OTF2_Reader_GetCompression(reader, &compression) != OTF2_SUCCESS ||
        OTF2_Reader_GetChunkSize(reader, &archive->chunk_bytes, &definition_bytes) !=
            OTF2_SUCCESS ||
        archive->chunk_bytes < OTF2_CHUNK_SIZE_MIN ||
        archive->chunk_bytes > OTF2_CHUNK_SIZE_MAX)
        return err_set(ERR_FORMAT, "not a readable OTF2 archive");
    archive->needs_library = substrate != OTF2_SUBSTRATE_POSIX ||
                             compression > OTF2_COMPRESSION_NONE ||
                             getenv("SNAG_OTF2_LIBRARY") != NULL;
    return 0;
}

static int otf2_open(struct source *source, const char *path)
{
    struct otf2 *archive = mem_alloc(1, sizeof *archive);
    OTF2_Reader *reader = NULL;
    int rc;

    source->impl = archive;
    archive->defs = &source->defs;
    OTF2_Error_RegisterCallback(ignore_message, NULL);
    prepare_buffers();
    rc = locate(archive, path);
    if (rc == 0)
        rc = open_reader(archive, &reader);
    if (rc < 0)
        return rc;
    rc = read_anchor(archive, reader);
    if (rc == 0)
        rc = otf2_definitions_read(reader, archive->files, source, &archive->tables);
    if (rc < 0)
        rc = err_set(rc, "cannot read '%s': %s", archive->anchor, err_message());
    archive->has_local_files = has_local_files(archive->files);
    OTF2_Reader_Close(reader);
    return rc;
}

static void otf2_close(struct source *source)
{
    struct otf2 *archive = source->impl;

    otf2_tables_release(&archive->tables);
    free(archive);
}

/* --------------------------------------------------------------------------- readers */

static OTF2_CallbackCode on_clock_offset(void *arg, OTF2_TimeStamp time, int64_t offset,
                                         double deviation)
{
    struct otf2_reader *r = arg;

    (void)deviation;
    if (!ticks_add_offset(&r->ticks, time, offset))
        r->events.quality->n[QUALITY_bad_definition]++;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_mapping(void *arg, OTF2_MappingType type, const OTF2_IdMap *map)
{
    struct otf2_reader *r = arg;

    if (type >= OTF2_MAPPING_MAX)
        r->events.quality->n[QUALITY_bad_record]++;
    otf2_events_map(&r->events, type, map);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_unknown_definition(void *arg)
{
    struct otf2_reader *r = arg;

    r->events.quality->n[QUALITY_bad_record]++;
    return OTF2_CALLBACK_SUCCESS;
}

static void reader_free(void *impl)
{
    struct otf2_reader *r = impl;

    if (r->callbacks)
        OTF2_EvtReaderCallbacks_Delete(r->callbacks);
    if (r->local_callbacks)
        OTF2_DefReaderCallbacks_Delete(r->local_callbacks);
    if (r->reader)
        OTF2_Reader_Close(r->reader);
    otf2_file_release(&r->file);
    otf2_events_release(&r->events);
    ticks_release(&r->ticks);
    free(r);
}

static void *reader_new(struct source *source)
{
    struct otf2_reader *r = mem_alloc(1, sizeof *r);

    prepare_buffers();
    r->archive = source->impl;
    otf2_events_init(&r->events, &r->archive->tables, &source->defs, &source->opts);
    ticks_init(&r->ticks, source->defs.ticks_per_s, source->defs.origin_ticks);
    if (open_reader(r->archive, &r->reader) < 0) {
        reader_free(r);
        return NULL;
    }
    r->file.fd = -1;
    r->callbacks = otf2_library_callbacks();
    r->local_callbacks = OTF2_DefReaderCallbacks_New();
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(r->local_callbacks, on_clock_offset);
    OTF2_DefReaderCallbacks_SetMappingTableCallback(r->local_callbacks, on_mapping);
    OTF2_DefReaderCallbacks_SetUnknownCallback(r->local_callbacks, on_unknown_definition);
    if (r->archive->needs_library)
        OTF2_Reader_OpenEvtFiles(r->reader);
    r->can_open_local_files = OTF2_Reader_OpenDefFiles(r->reader) == OTF2_SUCCESS;
    return r;
}

/* Without its mapping tables a location's ids may mean other things; they are only known not
 * to exist when no location has any. */
static void read_local_definitions(struct otf2_reader *r, uint64_t id)
{
    OTF2_DefReader *defs =
        r->can_open_local_files ? OTF2_Reader_GetDefReader(r->reader, id) : NULL;
    OTF2_ErrorCode status;
    uint64_t n;

    if (defs == NULL) {
        r->events.quality->n[r->archive->has_local_files ? QUALITY_missing_definitions
                                                         : QUALITY_no_local_definitions]++;
        return;
    }
    OTF2_Reader_RegisterDefCallbacks(r->reader, defs, r->local_callbacks, r);
    status = OTF2_Reader_ReadAllLocalDefinitions(r->reader, defs, &n);
    if (status != OTF2_SUCCESS && status != OTF2_ERROR_INDEX_OUT_OF_BOUNDS)
        r->events.quality->n[QUALITY_bad_definition]++;
    OTF2_Reader_CloseDefReader(r->reader, defs);
}

/* --------------------------------------------------------------------------- events */

static void begin_library(struct otf2_reader *r, struct quality *quality)
{
    r->library = OTF2_Reader_GetEvtReader(r->reader, r->location->id);
    r->is_at_end = r->library == NULL;
    quality->n[QUALITY_missing_file] += r->is_at_end;
    if (r->is_at_end)
        return;
    OTF2_EvtReader_ApplyClockOffsets(r->library, false);
    OTF2_EvtReader_ApplyMappingTables(r->library, false);
    OTF2_Reader_RegisterEvtCallbacks(r->reader, r->library, r->callbacks, &r->events);
}

static int begin(void *impl, uint32_t location, struct quality *quality)
{
    struct otf2_reader *r = impl;

    r->events.quality = quality;
    r->location = &r->archive->defs->location[location];
    r->n_read = 0;
    otf2_events_begin(&r->events, r->location);
    ticks_clear_offsets(&r->ticks);
    if (!r->archive->needs_library) {
        /* A location that has no event file, or none that we may read, and should have one. */
        char path[FS_PATH_SIZE + 32];

        snprintf(path, sizeof path, "%s/%llu.evt", r->archive->files,
                 (unsigned long long)r->location->id);
        r->is_at_end = otf2_file_open(&r->file, path, r->archive->chunk_bytes) < 0;
        if (r->is_at_end)
            quality->n[QUALITY_missing_file] += r->location->n_events_said > 0;
        if (r->file.fd < 0 && fs_is_out_of(errno))
            return ERR_IO;
    }
    if (r->archive->needs_library || !r->is_at_end) {
        OTF2_Reader_SelectLocation(r->reader, r->location->id);
        read_local_definitions(r, r->location->id);
    }
    if (r->archive->needs_library)
        begin_library(r, quality);
    return 0;
}

/* Asks libotf2 for the next records. */
static size_t next_of_library(struct otf2_reader *r, struct quality *quality)
{
    uint64_t said = r->location->n_events_said, n = 0;
    uint64_t left = (said > MIN_SAID ? said : UINT64_MAX) - r->n_read;
    size_t most = left < r->events.most ? (size_t)left : r->events.most;
    OTF2_ErrorCode status = OTF2_Reader_ReadLocalEvents(r->reader, r->library, most, &n);

    n = n < most ? n : most;
    r->is_at_end = n < r->events.most || status != OTF2_SUCCESS;
    quality->n[QUALITY_truncated] +=
        r->is_at_end && (status != OTF2_SUCCESS || r->n_read + n < said);
    return (size_t)n;
}

/* What was missing in the file of the location, now that it is at its end. */
static void report(const struct otf2_reader *r, struct quality *quality)
{
    const struct otf2_file *f = &r->file;
    uint64_t n = r->n_read + f->n_lost, said = r->location->n_events_said;

    quality->n[QUALITY_bad_record] += f->n_damaged;
    quality->n[QUALITY_truncated] += f->is_cut || n < said;
    quality->n[QUALITY_lost_event] += f->n_lost + (n < said ? said - n : 0);
}

static size_t next(void *impl, struct event_batch *batch, size_t most, struct quality *quality)
{
    struct otf2_reader *r = impl;
    size_t event = batch->n, message = batch->n_messages, collective = batch->n_collectives, n;

    if (r->is_at_end)
        return 0;
    otf2_events_into(&r->events, batch, most, quality);
    if (r->library) {
        n = next_of_library(r, quality);
        r->n_read += n;
    } else {
        n = otf2_decode(&r->file, &r->events);
        r->n_read += n;
        r->is_at_end = n < most;
        if (r->is_at_end)
            report(r, quality);
    }
    otf2_events_convert(&r->events, &r->ticks, event, message, collective, r->is_at_end);
    return n;
}

static void end(void *impl, struct quality *quality)
{
    struct otf2_reader *r = impl;

    quality->n[QUALITY_unfinished_request] += requests_clear(&r->events.requests);
    if (r->library)
        OTF2_Reader_CloseEvtReader(r->reader, r->library);
    r->library = NULL;
    otf2_file_close(&r->file);
}

static uint64_t bytes_of(const struct source *source, const uint32_t *rank)
{
    const struct otf2 *archive = source->impl;
    char path[FS_PATH_SIZE + 32];
    uint64_t sum;

    snprintf(path, sizeof path, "%s.def", archive->files);
    sum = fs_bytes(archive->anchor) + fs_bytes(path);
    if (rank == NULL)
        return sum + fs_bytes(archive->files);
    for (uint32_t l = 0; l < source->defs.n_locations; l++) {
        static const char *const ends[] = {"evt", "def"};
        const struct location *location = &source->defs.location[l];

        for (int i = 0; location->rank == *rank && i < 2; i++) {
            snprintf(path, sizeof path, "%s/%llu.%s", archive->files,
                     (unsigned long long)location->id, ends[i]);
            sum += fs_bytes(path);
        }
    }
    return sum;
}

const struct source_ops source_otf2_ops = {
    .name = "otf2",
    .what = "OTF2 archives (Score-P, TAU, EZTrace, Extrae): the .otf2 file or its directory",
    .opens_quickly = true,
    .accepts = accepts,
    .open = otf2_open,
    .close = otf2_close,
    .reader_new = reader_new,
    .reader_free = reader_free,
    .begin = begin,
    .next = next,
    .end = end,
    .bytes = bytes_of,
};
