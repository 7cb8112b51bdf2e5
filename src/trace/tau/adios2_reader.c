/*
 * Everything here runs in a child process, which may die at any call of ADIOS2: its readers
 * trust what is in a file. So sizes are held against the size of the file before memory is
 * taken for them, and what the child has said by then has reached the parent.
 *
 * What one has to know of ADIOS2 2.10's C interface:
 *
 *  - exceptions become error codes; what they said is on standard error;
 *  - an attribute's text is copied without asking how much room there is;
 *  - with a time-out, begin_step says "not ready" and can be asked again; without, it waits for
 *    ever for a writer that died;
 *  - BP3 and BP4 take the part of a block that was selected from the file; the others bring
 *    the whole block each time;
 *  - BP4 and BP5 files are directories: md.idx has a record per step, which says where in md.0
 *    the step's metadata is. Where one of the two lost its end, it waits for the rest of md.0
 *    for ever, or ends early without a word. So a file is asked first whether it is as long as
 *    it says. Layouts: adios2/toolkit/format/bp/bp4/BP4Serializer.cpp and
 *    adios2/engine/bp5/BP5Writer.cpp.
 *
 *     md.idx   64 bytes of header, byte 37: the version
 *     BP4      records of 8 numbers of 64 bits, the 6th is where the step ends in md.0
 *     BP5      records: a letter, the number of bytes after it; for 's', first where the step
 *              begins in md.0 and how long it is there
 */
#include "trace/tau/adios2_reader.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/progress.h"
#include "trace/tau/libadios2.h"
#include "trace/tau/tau_step.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------ whether a file is whole */

enum bp_index {
    BP_INDEX_FITS,  /* or is not ours to know */
    BP_INDEX_SHORT, /* md.0 has more steps */
    BP_INDEX_LONG,  /* md.0 has fewer steps */
};

#define HEADER_BYTES 64
#define VERSION_AT 37
#define BP4_RECORD_BYTES 64
#define BP4_END_AT 40
#define BP5_HEAD_BYTES 9

static uint64_t number_at(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

/* Where the last step ends in md.0. False if the records do not come out even. */
static bool end_of_bp4(const unsigned char *index, size_t n, uint64_t *end)
{
    for (size_t at = HEADER_BYTES; at + BP4_RECORD_BYTES <= n; at += BP4_RECORD_BYTES)
        *end = number_at(index + at + BP4_END_AT);
    return (n - HEADER_BYTES) % BP4_RECORD_BYTES == 0;
}

static bool end_of_bp5(const unsigned char *index, size_t n, uint64_t *end)
{
    size_t at = HEADER_BYTES;

    while (n - at >= BP5_HEAD_BYTES) {
        uint64_t bytes = number_at(index + at + 1);
        const unsigned char *body = index + at + BP5_HEAD_BYTES;

        if (bytes > n - at - BP5_HEAD_BYTES)
            return false;
        if (index[at] == 's' && bytes >= 16)
            *end = number_at(body) + number_at(body + 8);
        at += BP5_HEAD_BYTES + bytes;
    }
    return at == n;
}

static enum bp_index compare(const unsigned char *index, size_t n, uint64_t metadata_bytes)
{
    uint64_t end = 0;
    bool is_even;

    if (n < HEADER_BYTES || (index[VERSION_AT] != 4 && index[VERSION_AT] != 5))
        return BP_INDEX_FITS;
    is_even = index[VERSION_AT] == 4 ? end_of_bp4(index, n, &end) : end_of_bp5(index, n, &end);
    if (end > metadata_bytes)
        return BP_INDEX_LONG;
    return end < metadata_bytes || !is_even ? BP_INDEX_SHORT : BP_INDEX_FITS;
}

static enum bp_index bp_index_check(const char *path)
{
    char name[FS_PATH_SIZE];
    const void *index = NULL;
    struct stat info;
    size_t n = 0;
    enum bp_index result;

    if (fs_join(name, path, "md.0") != 0 || stat(name, &info) != 0 ||
        fs_join(name, path, "md.idx") != 0 || fs_map(name, &index, &n) != 0)
        return BP_INDEX_FITS;
    result = compare(index, n, (uint64_t)info.st_size);
    fs_unmap(index, n);
    return result;
}

/* ------------------------------------------------------------------------------- the reader */

#define TEXT_ROOM                                                                              \
    ((size_t)256 << 20) /* for an attribute's text; what is not used is not there */
#define BEAT_S 1.0f
#define STREAM_OPEN_S "30" /* for what comes after the contact file, */
#define CALL_OPEN_S "5"    /* or what its writer is about to make */
#define NAP_MS 50u
#define N_TABLES 3
#define MAX_BLOCKS 1000000u

struct adios2_reading {
    const struct adios2_reader *what;
    struct worker_process_end *end;
    adios2_adios *adios;
    adios2_io *io;
    adios2_engine *engine;
    char name[PATH_MAX]; /* of the file, without its directory, which is the current one */
    bool is_in_place;
    bool is_stream, is_bp3, is_piecewise;
    uint64_t n_steps;       /* told */
    uint64_t n_hollow;      /* steps without tables just before this one */
    uint64_t file_bytes;    /* of all files, when it was opened; UINT64_MAX for a stream */
    struct names attribute; /* that were told */
    char *text;             /* [TEXT_ROOM] */
    uint64_t *rows;         /* of a block that cannot be taken in pieces */
    size_t rows_cap;
    unsigned char *room; /* of the worker process, */
    size_t used;         /* and how much of it */
    struct tau_step_end step;
    bool is_known[N_TABLES];      /* tables that there were by now, */
    uint64_t n_missing[N_TABLES]; /* or steps without them */
};

/* ------------------------------------------------------------------------------- telling */

static void flush(struct adios2_reading *r, uint32_t kind)
{
    if (r->room)
        worker_process_send(r->end, kind, r->used);
    r->room = NULL;
    r->used = 0;
}

static void *room_for(struct adios2_reading *r, uint32_t kind, size_t bytes)
{
    void *at;

    if (r->room && r->used + bytes > WORKER_PROCESS_BYTES)
        flush(r, kind);
    if (r->room == NULL)
        r->room = worker_process_room(r->end);
    at = r->room + r->used;
    r->used += bytes;
    return at;
}

/* Takes out what makes a terminal show colours. */
static void strip_colours(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++)
        if (*from == '\033')
            from += strcspn(from, "mK\n") - (from[strcspn(from, "mK\n")] == '\n');
        else
            *to++ = *from;
    *to = '\0';
}

/* The last line of what ADIOS2 wrote on standard error, without its decoration. */
static const char *reason(struct adios2_reading *r)
{
    static char said[4000];
    char *line, *end, *at;

    worker_process_said(r->end, said, sizeof said);
    strip_colours(said);
    end = said + strlen(said);
    while (end > said && isspace((unsigned char)end[-1]))
        *--end = '\0';
    line = strrchr(said, '\n');
    line = line ? line + 1 : said;
    while ((at = strstr(line, "> : ")) != NULL)
        line = at + 4;
    return *line ? line : "no reason given";
}

static int broken(struct adios2_reading *r, const char *what)
{
    snprintf(room_for(r, TAU_BROKEN, 512), 512, "%s", what);
    flush(r, TAU_BROKEN);
    return 0;
}

/* -------------------------------------------------------------------------------- opening */

static uint64_t bytes_below(const char *path, unsigned depth)
{
    struct stat info;
    struct dirent *file;
    uint64_t sum = 0;
    DIR *files;

    if (stat(path, &info) != 0)
        return 0;
    if (!S_ISDIR(info.st_mode) || depth == 0)
        return (uint64_t)info.st_size;
    files = opendir(path);
    while (files && (file = readdir(files)) != NULL) {
        char name[PATH_MAX];

        if (file->d_name[0] == '.' ||
            snprintf(name, sizeof name, "%s/%s", path, file->d_name) >= (int)sizeof name)
            continue;
        sum += bytes_below(name, depth - 1);
    }
    if (files)
        closedir(files);
    return sum;
}

/* With those of BP3, which lie beside. */
static uint64_t size_of(const char *path)
{
    char beside[PATH_MAX];

    if (snprintf(beside, sizeof beside, "%s.dir", path) >= (int)sizeof beside)
        return bytes_below(path, 2);
    return bytes_below(path, 2) + bytes_below(beside, 2);
}

/*
 * Goes to the directory of the file: BP3 looks for its second file in another one where ".bp"
 * is in the name of a directory. False if it is not there.
 */
static bool go_there(struct adios2_reading *r)
{
    const char *path = r->what->path, *slash;
    size_t n = strlen(path);
    char dir[PATH_MAX];

    while (n > 1 && path[n - 1] == '/')
        n--;
    snprintf(r->name, sizeof r->name, "%.*s", (int)n, path);
    slash = strrchr(r->name, '/');
    if (slash == NULL)
        return true;
    snprintf(dir, sizeof dir, "%.*s", (int)(slash - r->name) + 1, r->name);
    memmove(r->name, slash + 1, strlen(slash));
    return chdir(dir) == 0;
}

/* True when there is something to open; says whether it is a stream. */
static bool is_there(struct adios2_reading *r)
{
    char contact[PATH_MAX];
    const char *path = r->name;

    if (!r->is_in_place)
        r->is_in_place = go_there(r);
    if (!r->is_in_place)
        return false;
    if (access(path, F_OK) == 0) {
        r->is_stream = false;
        return bytes_below(path, 1) > 0;
    }
    r->is_stream = snprintf(contact, sizeof contact, "%s.sst", path) < (int)sizeof contact &&
                   access(contact, F_OK) == 0;
    return r->is_stream;
}

static int wait_for_it(struct adios2_reading *r)
{
    uint64_t until = clock_ns() + (uint64_t)r->what->connect_ms * 1000000u;

    while (!is_there(r)) {
        if (!r->what->is_live || clock_ns() >= until)
            return err_set(ERR_NOT_FOUND, "no such trace: '%s'%s", r->what->path,
                           r->what->is_live ? " (waited for it)" : "");
        worker_process_beat(r->end);
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000}, NULL);
    }
    return 0;
}

static bool is_engine(const struct adios2_reading *r, const char *name)
{
    char type[64] = "";
    size_t n = 0;

    if (adios2_engine_get_type(NULL, &n, r->engine) != adios2_error_none || n >= sizeof type)
        return false;
    adios2_engine_get_type(type, &n, r->engine);
    return strncasecmp(type, name, strlen(name)) == 0;
}

static int open_engine(struct adios2_reading *r)
{
    if (!r->what->is_live && bp_index_check(r->name) == BP_INDEX_LONG)
        return err_set(ERR_FORMAT, "'%s' is cut off: its md.0 is shorter than md.idx says",
                       r->what->path);
    setenv("HOME", "/nonexistent", 0); /* without one ADIOS2 crashes looking for its settings */
    r->adios = adios2_init_serial();
    r->io = r->adios ? adios2_declare_io(r->adios, "tau") : NULL;
    if (r->io == NULL)
        return err_set(ERR_IO, "cannot start ADIOS2: %s", reason(r));
    adios2_set_engine(r->io, r->is_stream ? "SST" : "BPFile");
    adios2_set_parameter(r->io, "OpenTimeoutSecs",
                         r->is_stream       ? STREAM_OPEN_S
                         : r->what->is_live ? CALL_OPEN_S
                                            : "0");
    r->engine = adios2_open(r->io, r->name, adios2_mode_read);
    if (r->engine == NULL)
        return err_set(ERR_FORMAT, "ADIOS2 cannot open '%s': %.200s", r->what->path, reason(r));
    r->is_bp3 = is_engine(r, "BP3");
    r->is_piecewise = r->is_bp3 || is_engine(r, "BP4");
    r->file_bytes = r->is_stream ? UINT64_MAX : size_of(r->name);
    return 0;
}

/* ----------------------------------------------------------------------------- attributes */

/* Text of one attribute into r->text; false if it is none or cannot be had. */
static bool text_of(struct adios2_reading *r, const adios2_attribute *attribute)
{
    adios2_abi_signed_choice type;
    adios2_abi_choice is_value = 0;
    size_t n = 0;

    return adios2_attribute_type(&type, attribute) == adios2_error_none &&
           type == adios2_type_string &&
           adios2_attribute_is_value(&is_value, attribute) == adios2_error_none && is_value &&
           adios2_attribute_data(r->text, &n, attribute) == adios2_error_none;
}

/* One that is longer than a block is cut: no name is that long. */
static void tell_attribute(struct adios2_reading *r, const char *name)
{
    size_t n_name = strlen(name) + 1, n_text = strlen(r->text) + 1;
    char *at;

    if (n_name > WORKER_PROCESS_BYTES / 4) {
        r->step.n_bad++;
        return;
    }
    if (n_text > WORKER_PROCESS_BYTES / 2)
        n_text = WORKER_PROCESS_BYTES / 2;
    at = room_for(r, TAU_ATTRIBUTES, n_name + n_text);
    memcpy(at, name, n_name);
    memcpy(at + n_name, r->text, n_text - 1);
    at[n_name + n_text - 1] = '\0';
}

static void read_attribute(struct adios2_reading *r, const adios2_attribute *attribute)
{
    uint32_t n_before = r->attribute.n;
    size_t n = 0;
    char *name = r->text;

    if (adios2_attribute_name(NULL, &n, attribute) != adios2_error_none || n == 0 ||
        n >= TEXT_ROOM / 2)
        return;
    adios2_attribute_name(name, &n, attribute);
    name[n] = '\0';
    if (names_add(&r->attribute, name) < n_before)
        return;
    if (text_of(r, attribute))
        tell_attribute(r, r->attribute.name[n_before]);
    memset(r->text, 0, 4);
}

static void read_attributes(struct adios2_reading *r)
{
    adios2_attribute **attribute = NULL;
    size_t n = 0;

    if (adios2_inquire_all_attributes(&attribute, &n, r->io) != adios2_error_none) {
        r->step.n_bad++;
        return;
    }
    for (size_t i = 0; i < n; i++)
        read_attribute(r, attribute[i]);
    free(attribute);
    flush(r, TAU_ATTRIBUTES);
}

/* ----------------------------------------------------------------------------------- rows */

struct adios2_table {
    const char *rows, *count; /* names of the variables */
    uint32_t kind;
    uint32_t columns;
};

/* In each of which events come last: what belongs among them is known then. */
static const struct adios2_table tables[N_TABLES] = {
    {"comm_timestamps", "comm_count", TAU_MESSAGES, TAU_MESSAGE_COLUMNS},
    {"counter_values", "counter_event_count", TAU_COUNTERS, TAU_COUNTER_COLUMNS},
    {"event_timestamps", "timer_event_count", TAU_EVENTS, TAU_EVENT_COLUMNS},
};

/* The number in a variable of one value, of any integer type. False if there is none. */
static bool count_of(struct adios2_reading *r, const char *name, uint64_t *count)
{
    adios2_variable *variable = adios2_inquire_variable(r->io, name);
    adios2_abi_signed_choice type;
    uint64_t raw = 0;

    if (variable == NULL || adios2_variable_type(&type, variable) != adios2_error_none)
        return false;
    if (type != adios2_type_uint32_t && type != adios2_type_uint64_t &&
        type != adios2_type_int32_t && type != adios2_type_int64_t)
        return false;
    if (adios2_get(r->engine, variable, &raw, adios2_mode_sync) != adios2_error_none)
        return false;
    *count = type == adios2_type_uint32_t || type == adios2_type_int32_t ? (uint32_t)raw : raw;
    return true;
}

/* Rows [begin, begin + n) of the selected block. */
static bool get_rows(struct adios2_reading *r, adios2_variable *variable, size_t begin,
                     size_t n, uint32_t columns, uint64_t *out)
{
    size_t start[2] = {begin, 0}, count[2] = {n, columns};

    return adios2_set_selection(variable, 2, start, count) == adios2_error_none &&
           adios2_get(r->engine, variable, out, adios2_mode_sync) == adios2_error_none;
}

static size_t tell_pieces(struct adios2_reading *r, adios2_variable *variable,
                          const struct adios2_table *table, size_t n)
{
    size_t width = table->columns * sizeof(uint64_t), most = WORKER_PROCESS_BYTES / width,
           at = 0;

    while (at < n) {
        size_t piece = n - at < most ? n - at : most;
        uint64_t *out = room_for(r, table->kind, piece * width);

        if (!get_rows(r, variable, at, piece, table->columns, out)) {
            r->used = 0;
            return at;
        }
        flush(r, table->kind);
        at += piece;
    }
    return n;
}

static size_t tell_whole(struct adios2_reading *r, adios2_variable *variable,
                         const struct adios2_table *table, size_t n)
{
    size_t width = table->columns * sizeof(uint64_t), most = WORKER_PROCESS_BYTES / width;

    mem_grow(&r->rows, &r->rows_cap, n * table->columns);
    if (!get_rows(r, variable, 0, n, table->columns, r->rows))
        return 0;
    for (size_t at = 0; at < n; at += most) {
        size_t piece = n - at < most ? n - at : most;

        memcpy(room_for(r, table->kind, piece * width), r->rows + at * table->columns,
               piece * width);
        flush(r, table->kind);
    }
    return n;
}

/* n rows of so many columns, all of the array or one block of it. */
static size_t tell_rows(struct adios2_reading *r, adios2_variable *variable,
                        const struct adios2_table *table, const size_t shape[2])
{
    if (shape[0] == 0)
        return 0;
    if (shape[1] != table->columns ||
        shape[0] > r->file_bytes / (table->columns * sizeof(uint64_t))) {
        r->step.n_bad++;
        return 0;
    }
    return r->is_piecewise ? tell_pieces(r, variable, table, shape[0])
                           : tell_whole(r, variable, table, shape[0]);
}

/* A local array: each block is one of its own. */
static uint64_t tell_blocks(struct adios2_reading *r, adios2_variable *variable,
                            const struct adios2_table *table)
{
    adios2_varinfo *info;
    uint64_t n = 0;
    size_t step = 0;

    adios2_current_step(&step, r->engine);
    info = adios2_inquire_blockinfo(r->engine, variable, step);
    if (info == NULL || info->nblocks > MAX_BLOCKS || info->Dims != 2) {
        r->step.n_bad++;
        return 0;
    }
    for (size_t i = 0; i < info->nblocks; i++)
        if (adios2_set_block_selection(variable, i) == adios2_error_none)
            n += tell_rows(r, variable, table, info->BlocksInfo[i].Count);
    adios2_free_blockinfo(info);
    return n;
}

static bool is_table(const adios2_variable *variable)
{
    adios2_abi_signed_choice type;
    size_t n_dims = 0;

    return adios2_variable_type(&type, variable) == adios2_error_none &&
           (type == adios2_type_uint64_t || type == adios2_type_int64_t) &&
           adios2_variable_ndims(&n_dims, variable) == adios2_error_none && n_dims == 2;
}

static uint64_t tell_array(struct adios2_reading *r, const struct adios2_table *table)
{
    adios2_variable *variable = adios2_inquire_variable(r->io, table->rows);
    adios2_abi_signed_choice shape_id;
    size_t shape[2];

    if (variable == NULL)
        return 0;
    if (is_table(variable) &&
        adios2_variable_shapeid(&shape_id, variable) == adios2_error_none) {
        if (shape_id == adios2_shapeid_local_array)
            return tell_blocks(r, variable, table);
        if (shape_id == adios2_shapeid_global_array &&
            adios2_variable_shape(shape, variable) == adios2_error_none)
            return tell_rows(r, variable, table, shape);
    }
    r->step.n_bad++;
    return 0;
}

/*
 * TAU writes all tables in every step, be they empty: where one is missing something is wrong,
 * unless its version of TAU does not know it at all.
 */
static void note_missing(struct adios2_reading *r, size_t t, bool is_there)
{
    if (!is_there && !r->is_known[t])
        r->n_missing[t]++;
    else if (!is_there)
        r->step.n_bad++;
    else {
        r->step.n_bad += r->n_missing[t];
        r->n_missing[t] = 0;
        r->is_known[t] = true;
    }
}

static void read_table(struct adios2_reading *r, size_t t)
{
    const struct adios2_table *table = &tables[t];
    uint64_t said = 0, n;
    bool is_said = count_of(r, table->count, &said);

    n = tell_array(r, table);
    note_missing(r, t, is_said || n > 0);
    if (!is_said && n > 0)
        r->step.n_bad++;
    if (n != said)
        r->step.n_short += n < said ? said - n : is_said;
}

/* True for a step that has none of the tables, not even empty ones. */
static bool is_hollow(struct adios2_reading *r)
{
    for (size_t t = 0; t < N_TABLES; t++)
        if (adios2_inquire_variable(r->io, tables[t].rows) ||
            adios2_inquire_variable(r->io, tables[t].count))
            return false;
    return true;
}

/*
 * False if it was none: after the last step ADIOS2 makes some of what belongs to none in a BP3
 * file. They count, as missing, only when a step follows.
 */
static bool read_step(struct adios2_reading *r)
{
    if (r->is_bp3 && is_hollow(r)) {
        r->n_hollow++;
        return false;
    }
    r->step = (struct tau_step_end){.n_bad = r->n_hollow};
    r->n_hollow = 0;
    read_attributes(r);
    for (size_t t = 0; t < N_TABLES; t++)
        read_table(r, t);
    return true;
}

static int read_steps(struct adios2_reading *r)
{
    float wait_s = r->what->is_live ? BEAT_S : 0;

    for (;;) {
        bool is_step;
        adios2_abi_signed_choice status = adios2_step_status_other_error;
        adios2_abi_choice error =
            adios2_begin_step(r->engine, adios2_step_mode_read, wait_s, &status);

        if (error != adios2_error_none || status == adios2_step_status_other_error)
            return broken(r, reason(r));
        if (status == adios2_step_status_end_of_stream) {
            adios2_close(r->engine); /* or the writer wonders */
            if (r->n_steps == 0)
                return broken(r, "it ended before its first step");
            return bp_index_check(r->name) == BP_INDEX_FITS
                       ? 0
                       : broken(r, "its md.idx lacks steps that are in md.0");
        }
        if (status == adios2_step_status_not_ready) {
            if (!r->what->is_live)
                return broken(r, "its writer has not closed it");
            worker_process_beat(r->end);
            continue;
        }
        is_step = read_step(r);
        error = adios2_end_step(r->engine);
        if (is_step) {
            memcpy(room_for(r, TAU_STEP_END, sizeof r->step), &r->step, sizeof r->step);
            r->n_steps++;
            flush(r, TAU_STEP_END);
        }
        if (error != adios2_error_none)
            return broken(r, reason(r));
    }
}

/* Memory is not given back: the process ends. */
int adios2_reader_run(void *ctx, struct worker_process_end *end)
{
    struct adios2_reading r = {.what = ctx, .end = end, .is_known = {[N_TABLES - 1] = true}};
    int rc;

    r.text = mmap(NULL, TEXT_ROOM, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r.text == MAP_FAILED)
        return err_set(ERR_IO, "cannot get memory for names");
    rc = wait_for_it(&r);
    if (rc == 0)
        rc = open_engine(&r);
    if (rc == 0)
        rc = read_steps(&r);
    return rc;
}

int adios2_reader_check(const char *path)
{
    char why[512];

    if (libadios2_load(why, sizeof why))
        return 0;
    return err_set(
        ERR_UNSUPPORTED,
        "cannot read '%s': ADIOS2, which it takes, cannot be loaded: %s. Install it (Debian "
        "13: "
        "libadios2-serial-c-2.10, Spack: adios2) or load its module; its directory may "
        "be named in LD_LIBRARY_PATH",
        path, why);
}
