/*
 * The table only grows, by a new one that replaces it, as that of the regions. Files are opened
 * when the first address in them is met, and stay so.
 *
 * An address that was unloaded and whose place is taken by other code (dlclose, then dlopen) is
 * still taken for what it was.
 */
#include "stack_sites.h"

#include "budget.h"
#include "complain.h"
#include "debug_memory.h"
#include "loaded.h"
#include "memory.h"
#include "quiet.h"
#include "recorder.h"
#include "stack_marks.h"
#include "state.h"
#include "symbols.h"
#include "base/search.h"
#include "trace/tracer/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define FIRST_SLOTS 1024
#define MAX_CHANGES 16384 /* that are known */

/* DWARF's numbers of x86-64. */
#define REGISTER_FP 6
#define REGISTER_SP 7
#define REGISTER_PC 16

struct site_table *_Atomic site_table;

struct code_file {
    struct code_file *next;
    uintptr_t loaded_to;
    char *path;
    Dwarf_CFI *cfi; /* NULL if it could not be read */
    bool is_of_program;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct code_file *files;
static atomic_size_t n_changes;

/* ------------------------------------------------------------------------------------ files */

/* Libraries whose functions are not the program's: ours and MPI's, */
static const char *const of_mpi[] = {"libsnag-tracer", "libmpi",  "libpmpi",   "libopen-rte",
                                     "libopen-pal",    "libmca_", "mca_",      "libprrte",
                                     "libpmix",        "libuc",   "libfabric", "libevent"};

/* and those of languages. */
static const char *const of_language[] = {"libc.so",   "libc-",    "libpthread", "ld-linux",
                                          "libstdc++", "libgcc_s", "libgomp",    "libomp.so",
                                          "libomp-",   "libiomp",  "libdl",      "librt"};

static bool is_one_of(const char *const *names, size_t n, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < n; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_of_program(const char *path)
{
    return !is_one_of(of_mpi, sizeof of_mpi / sizeof *of_mpi, path) &&
           !is_one_of(of_language, sizeof of_language / sizeof *of_language, path);
}

bool site_is_of_mpi(const void *code)
{
    struct loaded in;

    return loaded_at((uintptr_t)code, &in) &&
           is_one_of(of_mpi, sizeof of_mpi / sizeof *of_mpi, in.path);
}

static const struct code_file *file_of(const struct loaded *in)
{
    struct code_file *f;
    Elf *elf;

    for (f = files; f; f = f->next)
        if (f->loaded_to == in->to && strcmp(f->path, in->path) == 0)
            return f;
    elf = debug_elf(in->path, in->build_id);
    f = memory_resize(NULL, 1, sizeof *f);
    *f = (struct code_file){.next = files,
                            .loaded_to = in->to,
                            .path = memory_copy(in->path),
                            .cfi = elf ? dwarf_getcfi_elf(elf) : NULL,
                            .is_of_program = is_of_program(in->path)};
    files = f;
    return f;
}

/* ------------------------------------------------------------------------------------ rules */

/* Whether an operation is that of a register and a distance. */
static bool is_by_register(const Dwarf_Op *op, unsigned *number, int64_t *distance)
{
    if (op->atom == DW_OP_bregx) {
        *number = (unsigned)op->number;
        *distance = (int64_t)op->number2;
        return true;
    }
    *number = op->atom - DW_OP_breg0;
    *distance = (int64_t)op->number;
    return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static enum site_base base_of(Dwarf_Frame *frame, int64_t *distance)
{
    Dwarf_Op *op;
    size_t n;
    unsigned number;

    if (dwarf_frame_cfa(frame, &op, &n) != 0 || n == 0 ||
        !is_by_register(&op[0], &number, distance))
        return SITE_END;
    if (n == 1)
        return number == REGISTER_SP   ? SITE_BY_SP
               : number == REGISTER_FP ? SITE_BY_FP
                                       : SITE_END;
    return n == 2 && op[1].atom == DW_OP_deref && number == REGISTER_FP ? SITE_STORED_BY_FP
                                                                        : SITE_END;
}

/* Where a register of the caller is: [the frame's end + distance], say. False: nowhere. */
static bool find_register(Dwarf_Frame *frame, int wanted, enum site_fp *kind, int64_t *distance)
{
    Dwarf_Op memory[3], *op;
    size_t n;
    unsigned number;

    *distance = 0;
    if (dwarf_frame_register(frame, wanted, memory, &op, &n) != 0)
        return false;
    if (n == 0) {
        *kind = SITE_FP_KEPT;
        return op == NULL;
    }
    if (op[0].atom != DW_OP_call_frame_cfa || n > 2)
        return false;
    *kind = SITE_FP_BELOW_END;
    if (n == 1)
        return true;
    if (op[1].atom == DW_OP_plus_uconst) {
        *distance = (int64_t)op[1].number;
        return true;
    }
    *kind = SITE_FP_BY_FP;
    return is_by_register(&op[1], &number, distance) && number == REGISTER_FP;
}

static bool is_short(int64_t distance)
{
    return distance == (int32_t)distance;
}

static void read_rule(struct stack_site *site, Dwarf_Frame *frame)
{
    int64_t base_distance = 0, fp_distance, pc_distance;
    enum site_base base = base_of(frame, &base_distance);
    enum site_fp fp, pc;

    if (base == SITE_END || !is_short(base_distance) ||
        !find_register(frame, REGISTER_PC, &pc, &pc_distance) || pc != SITE_FP_BELOW_END ||
        pc_distance != -8)
        return;
    if (!find_register(frame, REGISTER_FP, &fp, &fp_distance) || !is_short(fp_distance)) {
        fp = SITE_FP_KEPT; /* lost: whoever needs it will find it out of the stack */
        fp_distance = 0;
    }
    site->base = (uint8_t)base;
    site->base_distance = (int32_t)base_distance;
    site->fp = (uint8_t)fp;
    site->fp_distance = (int32_t)fp_distance;
}

/* The functions that are open at an instruction. Returns up to where code is of the same ones;
 * 0: it is not known. */
static uintptr_t find_open(struct stack_site *site, uintptr_t pc)
{
    uintptr_t function = (uintptr_t)_Unwind_FindEnclosingFunction((void *)(pc + 1)), until;
    struct region_open open[1 + REGIONS_INLINED];
    size_t n = 0;

    if (function == 0)
        return 0;
    function = symbol_whole(function);
    open[0] = (struct region_open){region_of((const void *)function), false, function};
    n += open[0].region != REGION_FILTERED;
    n += regions_inlined(pc, open + n, &until);
    site->n_open = (uint32_t)n;
    site->is_filtered = n == 0;
    site->open = memory_resize(NULL, n, sizeof *open);
    memcpy(site->open, open, n * sizeof *open);
    if (n > 0 && open[n - 1].is_inlined) {
        site->change = memory_resize(NULL, 1, sizeof *site->change);
        atomic_init(site->change, NULL);
    }
    return until;
}

struct rule_question {
    struct stack_site *site;
    uintptr_t pc, end; /* the latter: up to where code has the same rule */
    bool is_known, is_of_program;
};

static void ask_rule(void *ctx)
{
    struct rule_question *q = ctx;
    struct loaded in;
    const struct code_file *file = loaded_at(q->pc, &in) ? file_of(&in) : NULL;
    Dwarf_Frame *frame;
    Dwarf_Addr row_end = 0;

    if (file == NULL || file->cfi == NULL ||
        dwarf_cfi_addrframe(file->cfi, q->pc - in.to, &frame) != 0)
        return;
    read_rule(q->site, frame);
    dwarf_frame_info(frame, NULL, &row_end, NULL);
    debug_memory_free(frame);
    q->end = row_end + in.to > q->pc ? row_end + in.to : 0;
    q->is_of_program = file->is_of_program;
    q->is_known = true;
}

/* The rule at an instruction, and what is open there. Returns up to where they are the same; 0
 * if there is none. */
static uintptr_t read_site(struct stack_site *site, uintptr_t pc)
{
    struct rule_question q = {.site = site, .pc = pc};
    uintptr_t until = 0;

    if (!debug_safely(ask_rule, &q) || !q.is_known)
        return 0;
    if (site->base != SITE_END && q.is_of_program)
        until = find_open(site, pc);
    return until > pc && until < q.end ? until : q.end;
}

static struct stack_site *site_new(uintptr_t address)
{
    struct stack_site *site = memory_resize(NULL, 1, sizeof *site);

    *site = (struct stack_site){.address = address};
    return site;
}

static struct stack_site *make_site(uintptr_t address)
{
    struct stack_site *site = site_new(address);

    read_site(site, address - 1);
    if (site->base != SITE_END && _Unwind_FindEnclosingFunction((void *)address) != NULL)
        site->mark = stack_marks_new(address);
    return site;
}

/* ------------------------------------------------------------------------------------ table */

static void insert(struct site_table *table, const struct stack_site *site)
{
    size_t at = (size_t)((uint64_t)site->address * 0x9e3779b97f4a7c15u >> 32);

    while (atomic_load_explicit(&table->slot[at & table->mask], memory_order_relaxed))
        at++;
    atomic_store_explicit(&table->slot[at & table->mask], site, memory_order_release);
    table->n++;
}

static struct site_table *grow(struct site_table *old)
{
    size_t slots = old ? 2 * (old->mask + 1) : FIRST_SLOTS;
    struct site_table *table =
        memory_resize(NULL, 1, sizeof *table + slots * sizeof table->slot[0]);

    if (table == NULL)
        return old;
    table->older = old;
    table->mask = slots - 1;
    table->n = 0;
    for (size_t i = 0; i < slots; i++)
        atomic_init(&table->slot[i], NULL);
    for (size_t i = 0; old && i <= old->mask; i++)
        if (atomic_load(&old->slot[i]))
            insert(table, atomic_load(&old->slot[i]));
    atomic_store_explicit(&site_table, table, memory_order_release);
    return table;
}

static const struct stack_site *find(const struct site_table *table, uintptr_t address)
{
    size_t at = (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 32);
    const struct stack_site *site = NULL;

    for (; table && (site = atomic_load(&table->slot[at & table->mask])) != NULL; at++)
        if (site->address == address)
            break;
    return site;
}

/* A table that could not grow is filled no further than this: recording has ended. */
static bool has_room(const struct site_table *table)
{
    return table && 4 * (table->n + 1) <= 3 * (table->mask + 1);
}

const struct stack_site *site_add(uintptr_t address)
{
    uint64_t begin_ns = budget_thread_ns();
    struct site_table *table;
    const struct stack_site *site;
    struct quiet q;

    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    table = atomic_load(&site_table);
    site = find(table, address);
    if (site == NULL) {
        site = make_site(address);
        if (table == NULL || 2 * (table->n + 1) > table->mask + 1)
            table = grow(table);
        if (has_room(table))
            insert(table, site);
    }
    pthread_mutex_unlock(&lock);
    budget_once(begin_ns);
    quiet_end(&q);
    return site;
}

/* ---------------------------------------------------------------------------------- changes */

struct site_change site_change_unknown(const struct stack_site *from,
                                       const struct stack_site *to)
{
    struct site_change c = {.to = to};

    while (c.n_same < from->n_open && c.n_same < to->n_open &&
           from->open[c.n_same].place == to->open[c.n_same].place) {
        c.maybe |= (uint64_t)to->open[c.n_same].is_inlined << c.n_same;
        c.n_same++;
    }
    return c;
}

/* What the instructions of the function say. Those of a sample are not looked at. */
static void find_out(struct site_change *c, const struct stack_site *from)
{
    if (from->address == 0 || c->to->address == 0)
        return;
    for (uint32_t i = 0; i < c->n_same; i++) {
        enum inlined_relation relation;

        if (!c->to->open[i].is_inlined)
            continue;
        relation = regions_between(from->address, c->to->address, c->to->open[i].place);
        if (relation == INLINED_OTHER)
            c->n_same = i; /* and what is inlined in it */
        else if (relation == INLINED_SAME)
            c->maybe &= ~((uint64_t)1 << i);
    }
}

bool site_change_is_open(const struct stack_site *from, const struct stack_site *to)
{
    return from->change && to->change && from->address != 0 && to->address != 0 &&
           site_change_known(from, to) == NULL && n_changes < MAX_CHANGES;
}

struct site_change site_change_add(const struct stack_site *from, const struct stack_site *to)
{
    uint64_t begin_ns = budget_thread_ns();
    const struct site_change *known;
    struct site_change c = site_change_unknown(from, to);
    struct quiet q;

    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    known = site_change_known(from, to);
    if (known) {
        c = *known;
    } else if (n_changes < MAX_CHANGES) {
        struct site_change *added = memory_resize(NULL, 1, sizeof *added);

        n_changes++;
        find_out(&c, from);
        c.next = atomic_load(from->change);
        *added = c;
        atomic_store_explicit(from->change, added, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    budget_once(begin_ns);
    quiet_end(&q);
    return c;
}

/* ------------------------------------------------------------------------------------- rows */

#define MAX_ROWS 65536
#define MAX_ROWS_AT_ONCE 4096 /* of a function: others are read when they are met */

struct site_row {
    uintptr_t begin, end;
    const struct stack_site *site;
};

/*
 * Of the functions that were interrupted, by address. What is new is a table of its own, joined
 * with those before it that have no more rows: so there are few tables, of which each is larger
 * than the one after it, and a row is copied as often as its table doubles. Those that were
 * joined stay as they are; who still looks in one finds what was there.
 */
struct row_table {
    const struct row_table *older; /* the next larger one */
    size_t n;
    struct site_row row[];
};

static const struct row_table *_Atomic row_table;
static size_t n_rows;

const struct stack_site *site_around(uintptr_t pc)
{
    const struct row_table *t = atomic_load_explicit(&row_table, memory_order_acquire);

    for (; t; t = t->older) {
        size_t low = FIRST_NOT(i, 0, t->n, t->row[i].end <= pc);

        if (low < t->n && t->row[low].begin <= pc)
            return t->row[low].site;
    }
    return NULL;
}

/* The rows of a function from an instruction on, up to one that is known. */
static size_t read_rows(const void *function, uintptr_t at, struct site_row *row)
{
    size_t n = 0;

    while (n < MAX_ROWS_AT_ONCE && site_around(at) == NULL &&
           (n == 0 || _Unwind_FindEnclosingFunction((void *)(at + 1)) == function)) {
        struct stack_site *site = site_new(0);
        uintptr_t end = read_site(site, at);

        if (end == 0) {
            memory_free(site);
            break;
        }
        row[n++] = (struct site_row){at, end, site};
        at = end;
    }
    return n;
}

/* Puts the rows of another table among the n that are there, which have room for them. */
static size_t join(struct site_row *row, size_t n, const struct row_table *other)
{
    size_t all = n + other->n, left = other->n;

    for (size_t to = all; left > 0;)
        row[--to] = n > 0 && row[n - 1].begin > other->row[left - 1].begin ? row[--n]
                                                                           : other->row[--left];
    return all;
}

static void add_rows(const struct site_row *row, size_t n)
{
    const struct row_table *newest = atomic_load(&row_table), *older = newest;
    struct row_table *table;
    size_t all = n;

    for (; older && older->n <= all; older = older->older)
        all += older->n;
    table = n > 0 ? memory_resize(NULL, 1, sizeof *table + all * sizeof *row) : NULL;
    if (table == NULL)
        return;
    memcpy(table->row, row, n * sizeof *row);
    table->n = n;
    for (const struct row_table *t = newest; t != older; t = t->older)
        table->n = join(table->row, table->n, t);
    table->older = older;
    n_rows += n;
    atomic_store_explicit(&row_table, table, memory_order_release);
}

/* The function around pc, from its begin on; if that is not enough, from there on; or that
 * instruction alone. */
static void meet_around(uintptr_t pc)
{
    static struct site_row row[MAX_ROWS_AT_ONCE];
    void *function = _Unwind_FindEnclosingFunction((void *)(pc + 1));

    add_rows(row, read_rows(function, function ? (uintptr_t)function : pc, row));
    add_rows(row, read_rows(function, pc, row));
    if (site_around(pc) == NULL)
        add_rows(&(struct site_row){pc, pc + 1, site_new(0)}, 1);
}

static void say_that_rows_are_full(void)
{
    static const char text[] = "lack what was first sampled after much other code";
    static bool is_said;

    if (is_said)
        return;
    is_said = true;
    complain("process %d: so much code was sampled that samples in more of it are left out; "
             "their time counts for what is sampled next",
             (int)getpid());
    state_journal(&(struct definition){
        .kind = JOURNAL_ABOUT, .text = (const char *[]){"Samples", text}, .n_texts = 2});
}

void site_add_around(uintptr_t pc)
{
    struct quiet q;

    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    if (site_around(pc) == NULL) {
        if (n_rows < MAX_ROWS)
            meet_around(pc);
        else
            say_that_rows_are_full();
    }
    pthread_mutex_unlock(&lock);
    quiet_end(&q);
}
