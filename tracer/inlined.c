/*
 * Of a function all that was inlined into it is read at once. Code is cut where any of it
 * begins or ends, and what is further inside is painted over what is around it:
 *
 *     the function   |---------------------------------|
 *     exchange            |----------------|
 *     send                     |----|
 *     pieces              |.exc|send|.exc..|
 *
 * One call may have come to several entries, when a loop was unrolled, say. Their place is the
 * same: that of their callers, the line and column of the call, and what was called.
 *
 * Of two calls in the same inlined function the instructions say what is possible. They are of
 * two activations if every way from one to the other comes by the entry again, and by code that
 * is not of it: the former alone is so in a loop that it begins with, the latter where the
 * compiler has put a piece of something else in between. They are of one if no way does either:
 * an entry may be where it is passed only once, before a loop.
 */
#include "inlined.h"

#include "code_paths.h"
#include "loaded.h"
#include "memory.h"
#include "base/order.h"
#include "base/search.h"
#include "trace/tracer/debug_info.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NESTED 64
#define MAX_NAME 1024
#define MAX_LOOKED_AT ((size_t)32 << 20) /* bytes of code */

struct code_piece {
    Dwarf_Addr begin; /* in the file; up to the next one */
    const struct inlined *inlined;
};

struct inlined_range {
    Dwarf_Addr begin, end;
    const struct inlined *inlined;
};

/* Where what is inlined begins. */
struct inlined_entry {
    Dwarf_Addr address; /* in the file */
    uint64_t place;
};

struct inlined_code {
    struct code_piece *piece; /* [n] by address */
    size_t n;
    struct inlined_range
        *range; /* [n_ranges] what is around comes before what is inside; while read */
    size_t n_ranges, cap;
    struct inlined_entry *entry; /* [n_entries] */
    size_t n_entries, cap_entries;
    struct code_range *whole; /* [n_whole] the function, in the file */
    size_t n_whole, cap_whole;
};

/* ---------------------------------------------------------------------------------- reading */

static uint64_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute memory;
    Dwarf_Word value;

    return dwarf_formudata(dwarf_attr(die, attribute, &memory), &value) == 0 ? value : 0;
}

/* The child of a scope that an entry is in, or is. */
static bool child_with(Dwarf_Die *scope, Dwarf_Off entry)
{
    Dwarf_Die die, last;
    bool is_there = false;

    if (dwarf_child(scope, &die) != 0)
        return false;
    do {
        if (dwarf_dieoffset(&die) > entry)
            break;
        last = die;
        is_there = true;
    } while (dwarf_siblingof(&die, &die) == 0);
    if (is_there)
        *scope = last;
    return is_there;
}

static const char *scope_name(Dwarf_Die *scope)
{
    const char *name = dwarf_diename(scope);

    switch (dwarf_tag(scope)) {
    case DW_TAG_namespace:
        return name ? name : "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return name;
    default:
        return NULL;
    }
}

/* In these nothing is declared in anything that a name begins with: it is not looked for, which takes as long as the
 * file is large. */
static bool has_no_scopes(Dwarf_Die *file)
{
    switch (dwarf_srclang(file)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return true;
    default:
        return false;
    }
}

/* What is declared in an unnamed namespace has no name for the linker: it is put together of the names of what
 * it is declared in, as a person writes it. */
static const char *name_with_scopes(Dwarf_Die *die, const char *name)
{
    char text[MAX_NAME];
    size_t n = 0;
    Dwarf_Attribute memory;
    Dwarf_Die declared = *die, scope;

    while (
        dwarf_formref_die(dwarf_attr(&declared, DW_AT_abstract_origin, &memory), &declared) ||
        dwarf_formref_die(dwarf_attr(&declared, DW_AT_specification, &memory), &declared))
        ;
    if (dwarf_diecu(&declared, &scope, NULL, NULL) == NULL || has_no_scopes(&scope))
        return name;
    while (child_with(&scope, dwarf_dieoffset(&declared)) &&
           dwarf_dieoffset(&scope) != dwarf_dieoffset(&declared)) {
        const char *around = scope_name(&scope);
        int more = around ? snprintf(text + n, sizeof text - n, "%s::", around) : 0;

        if (more < 0 || (size_t)more >= sizeof text - n)
            return name;
        n += (size_t)more;
    }
    if (n == 0 || n + strlen(name) >= sizeof text)
        return name;
    strcpy(text + n, name);
    return memory_copy(text);
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute memory;
    const char *linked =
        dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &memory));
    const char *name = linked ? NULL : dwarf_diename(die);

    return name ? name_with_scopes(die, name) : linked;
}

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t place_of(Dwarf_Die *die, const struct inlined *i)
{
    uint64_t h = i->caller ? i->caller->place : 1;

    for (const char *c = i->name; *c; c++)
        h = mix(h, (unsigned char)*c);
    h = mix(h, number_of(die, DW_AT_call_file));
    h = mix(h, number_of(die, DW_AT_call_line));
    return mix(h, number_of(die, DW_AT_call_column));
}

/* NULL if it has no name. */
static const struct inlined *read_inlined(Dwarf_Die *die, const struct inlined *caller)
{
    const char *name = name_of(die);
    struct inlined *i;
    int line;

    if (name == NULL)
        return NULL;
    i = memory_resize(NULL, 1, sizeof *i);
    *i = (struct inlined){
        .caller = caller, .name = name, .depth = caller ? caller->depth + 1 : 0};
    i->file = dwarf_decl_file(die);
    if (i->file && dwarf_decl_line(die, &line) == 0 && line > 0)
        i->line = (uint32_t)line;
    i->place = place_of(die, i);
    return i;
}

static void add_ranges(struct inlined_code *code, Dwarf_Die *die, const struct inlined *of)
{
    Dwarf_Addr base, begin, end;

    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0;) {
        if (begin >= end)
            continue;
        if (!memory_grow(&code->range, code->n_ranges, code->cap))
            return;
        code->range[code->n_ranges++] = (struct inlined_range){begin, end, of};
    }
}

static Dwarf_Addr entry_of(Dwarf_Die *die, const struct inlined_range *first)
{
    Dwarf_Attribute memory;
    Dwarf_Addr address;
    Dwarf_Word offset;

    if (dwarf_attr(die, DW_AT_entry_pc, &memory) == NULL)
        return first->begin;
    if (dwarf_formaddr(&memory, &address) == 0)
        return address;
    return dwarf_formudata(&memory, &offset) == 0 ? first->begin + offset : first->begin;
}

static void add_entry(struct inlined_code *code, struct inlined_entry entry)
{
    if (memory_grow(&code->entry, code->n_entries, code->cap_entries))
        code->entry[code->n_entries++] = entry;
}

static void add_inlined(struct inlined_code *code, Dwarf_Die *die, const struct inlined *of)
{
    size_t first = code->n_ranges;

    add_ranges(code, die, of);
    if (code->n_ranges > first)
        add_entry(code, (struct inlined_entry){entry_of(die, &code->range[first]), of->place});
}

static void read_all(struct inlined_code *code, Dwarf_Die *parent, const struct inlined *caller,
                     int depth)
{
    const struct inlined *inside;
    Dwarf_Die die;

    if (depth == MAX_NESTED || memory_is_short() || dwarf_child(parent, &die) != 0)
        return;
    do
        switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
            inside = read_inlined(&die, caller);
            if (inside)
                add_inlined(code, &die, inside);
            read_all(code, &die, inside ? inside : caller, depth + 1);
            break;
        case DW_TAG_lexical_block:
            read_all(code, &die, caller, depth + 1);
        }
    while (!memory_is_short() && dwarf_siblingof(&die, &die) == 0);
}

/* --------------------------------------------------------------------------------- painting */

static int by_begin(const void *left, const void *right)
{
    const struct code_piece *a = left, *b = right;

    return ORDER(a->begin, b->begin);
}

/* How many pieces begin at an address or before it. */
static size_t pieces_until(const struct inlined_code *code, Dwarf_Addr address)
{
    return FIRST_NOT(i, 0, code->n, code->piece[i].begin <= address);
}

/* False if there is no memory for it. */
static bool cut(struct inlined_code *code)
{
    size_t n = 0;

    code->piece = memory_resize(NULL, 2 * code->n_ranges + 1, sizeof *code->piece);
    if (code->piece == NULL)
        return false;
    for (size_t i = 0; i < code->n_ranges; i++) {
        code->piece[n++] = (struct code_piece){code->range[i].begin, NULL};
        code->piece[n++] = (struct code_piece){code->range[i].end, NULL};
    }
    qsort(code->piece, n, sizeof *code->piece, by_begin);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || code->piece[i].begin != code->piece[code->n - 1].begin)
            code->piece[code->n++] = code->piece[i];
    return true;
}

static void read_whole(struct inlined_code *code, Dwarf_Die *function)
{
    Dwarf_Addr base, begin, end;

    for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &begin, &end)) > 0;) {
        if (!memory_grow(&code->whole, code->n_whole, code->cap_whole))
            return;
        code->whole[code->n_whole++] = (struct code_range){begin, end};
    }
}

static struct inlined_code *read_function(Dwarf_Die *function)
{
    struct inlined_code *code = memory_zeroed(1, sizeof *code);

    read_all(code, function, NULL, 0);
    if (!cut(code))
        code->n_ranges = 0;
    for (size_t i = 0; i < code->n_ranges; i++)
        for (size_t at = pieces_until(code, code->range[i].begin) - 1;
             code->piece[at].begin < code->range[i].end; at++)
            code->piece[at].inlined = code->range[i].inlined;
    memory_free(code->range);
    code->range = NULL;
    read_whole(code, function);
    return code;
}

static const struct inlined_code *code_of(struct debug_function *function)
{
    if (function->inlined == NULL)
        function->inlined = read_function(&function->die);
    return function->inlined;
}

/* The function that code is in; *address is where in its file. */
static struct debug_function *function_at(uintptr_t code, Dwarf_Addr *address)
{
    struct debug_file *file;
    struct loaded in;

    if (!loaded_at(code, &in) || (file = debug_file(in.path, in.build_id)) == NULL)
        return NULL;
    *address = code - in.to;
    return debug_function(file, *address);
}

struct inlined_query {
    uintptr_t code, until;
    const struct inlined *innermost;
};

static void find_inlined(void *ctx)
{
    struct inlined_query *p = ctx;
    Dwarf_Addr address, end;
    struct debug_function *function = function_at(p->code, &address);
    const struct inlined_code *in;
    size_t at;

    if (function == NULL)
        return;
    in = code_of(function);
    at = pieces_until(in, address);
    end =
        at < in->n && in->piece[at].begin < function->end ? in->piece[at].begin : function->end;
    p->until = p->code + (end - address);
    p->innermost = at > 0 ? in->piece[at - 1].inlined : NULL;
}

const struct inlined *inlined_at(uintptr_t code, uintptr_t *until)
{
    struct inlined_query p = {.code = code};
    bool is_known = debug_safely(find_inlined, &p);

    *until = is_known ? p.until : 0;
    return is_known ? p.innermost : NULL;
}

/* ---------------------------------------------------------------------------------- relation
 */

struct relation_question {
    const struct inlined_code *in;
    uintptr_t moved; /* from the file to the memory */
    uint64_t place;
    Dwarf_Addr *entry; /* [n] of the place */
    size_t n;
};

static bool is_inside(void *ctx, uintptr_t code)
{
    const struct relation_question *q = ctx;
    size_t at = pieces_until(q->in, code - q->moved);
    const struct inlined *i = at > 0 ? q->in->piece[at - 1].inlined : NULL;

    while (i && i->place != q->place)
        i = i->caller;
    return i != NULL;
}

static bool is_entry(void *ctx, uintptr_t code)
{
    const struct relation_question *q = ctx;

    for (size_t i = 0; i < q->n; i++)
        if (q->entry[i] == code - q->moved)
            return true;
    return false;
}

static bool is_no_entry(void *ctx, uintptr_t code)
{
    return !is_entry(ctx, code);
}

static bool is_way_in(void *ctx, uintptr_t code)
{
    return is_entry(ctx, code) || !is_inside(ctx, code);
}

static bool is_possible(struct code_paths paths, bool (*may_pass)(void *, uintptr_t),
                        bool (*must_pass)(void *, uintptr_t))
{
    paths.may_pass = may_pass;
    paths.must_pass = must_pass;
    return code_paths_reach(&paths);
}

/* Of the process so far, so that it does not take more than a second or so. */
static bool may_look_at(const struct inlined_code *in)
{
    static size_t bytes;

    for (size_t i = 0; i < in->n_whole; i++)
        bytes += in->whole[i].end - in->whole[i].begin;
    return bytes <= MAX_LOOKED_AT;
}

static enum inlined_relation ask(struct code_paths paths)
{
    if (!is_possible(paths, NULL, NULL))
        return INLINED_MAYBE_SAME; /* there was a way: by an exception, or a longjmp */
    if (!is_possible(paths, is_no_entry, NULL) && !is_possible(paths, is_inside, NULL))
        return INLINED_OTHER;
    return is_possible(paths, NULL, is_way_in) ? INLINED_MAYBE_SAME : INLINED_SAME;
}

struct inlined_pair {
    uintptr_t from, to;
    uint64_t place;
    enum inlined_relation relation;
};

static void relate(void *ctx)
{
    struct inlined_pair *p = ctx;
    Dwarf_Addr address;
    struct debug_function *function = function_at(p->from - 1, &address);
    const struct inlined_code *in = function ? code_of(function) : NULL;
    struct code_range *range;
    struct relation_question q;

    if (in == NULL || !may_look_at(in))
        return;
    q = (struct relation_question){.in = in, .moved = p->from - 1 - address, .place = p->place};
    q.entry = memory_resize(NULL, in->n_entries, sizeof *q.entry);
    range = memory_resize(NULL, in->n_whole, sizeof *range);
    for (size_t i = 0; q.entry && i < in->n_entries; i++)
        if (in->entry[i].place == p->place)
            q.entry[q.n++] = in->entry[i].address;
    for (size_t i = 0; range && i < in->n_whole; i++)
        range[i] =
            (struct code_range){in->whole[i].begin + q.moved, in->whole[i].end + q.moved};
    if (q.entry && range)
        p->relation = ask((struct code_paths){
            .range = range, .n_ranges = in->n_whole, .from = p->from, .to = p->to, .ctx = &q});
    memory_free(range);
    memory_free(q.entry);
}

enum inlined_relation inlined_between(uintptr_t from, uintptr_t to, uint64_t place)
{
    struct inlined_pair pair = {from, to, place, INLINED_MAYBE_SAME};

    debug_safely(relate, &pair);
    return pair.relation;
}
