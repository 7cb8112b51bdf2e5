/*
 * The short name is found by scanning once from the left, keeping track of the depth of <> and
 * () so that commas and "::" inside template arguments and parameters do not count:
 *
 *     return_type  ns :: Class<T> :: function  ( parameters )  const [{file}..]
 *                        ^ start of the last two parts  ^ first '(' at depth 0
 */
#include "trace/region_name.h"

#include "base/text.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A demangled name in the making. */
struct plain {
    char text[REGION_NAME_MOST + 1];
    size_t n;
    jmp_buf too_long;
};

/*
 * A mangled name refers back to its own parts, and each part may be two of the one before: 200
 * bytes can stand for gigabytes. libiberty hands over the text in pieces and keeps nothing that
 * would have to be freed, so it can be left from here.
 */
static void take_piece(const char *piece, size_t n, void *ctx)
{
    struct plain *plain = ctx;

    if (n > REGION_NAME_MOST - plain->n)
        longjmp(plain->too_long, 1);
    memcpy(plain->text + plain->n, piece, n);
    plain->n += n;
}

/* False for what is no mangled name, or would be too long. */
static bool demangle(const char *text, struct plain *plain)
{
    plain->n = 0;
    if (text[0] != '_' || text[1] != 'Z' || setjmp(plain->too_long) != 0 ||
        !cplus_demangle_v3_callback(text, DMGL_PARAMS | DMGL_TYPES, take_piece, plain))
        return false;
    plain->text[plain->n] = '\0';
    return true;
}

/* Where "_MOD_" stands in __module_MOD_procedure, NULL if it is no such name. */
static const char *fortran_middle(const char *text)
{
    const char *middle = starts_with(text, "__") ? strstr(text + 2, "_MOD_") : NULL;

    return middle && middle > text + 2 && middle[5] != '\0' ? middle : NULL;
}

/* "module::procedure" */
static const char *fortran_name(const char *text, const char *middle, struct arena *arena)
{
    size_t n_module = (size_t)(middle - text) - 2, n_procedure = strlen(middle + 5);
    char *name = arena_array(arena, char, n_module + 2 + n_procedure + 1);

    memcpy(name, text + 2, n_module);
    memcpy(name + n_module, "::", 2);
    memcpy(name + n_module + 2, middle + 5, n_procedure + 1);
    return name;
}

size_t region_name_plain(const char *name)
{
    size_t n = 0;

    if (starts_with(name, "MPI_"))
        while (isalnum((unsigned char)name[n]) || name[n] == '_')
            n++;
    return n > 0 && name[n] == '@' && name[n + 1] != '\0' ? n : strlen(name);
}

static const char *name_of_code(const char *text, struct arena *arena)
{
    static _Thread_local struct plain plain;
    const char *middle = fortran_middle(text);

    if (middle)
        return fortran_name(text, middle, arena);
    return arena_string(arena, demangle(text, &plain) ? plain.text : text);
}

/* The function of a call site, "MPI_Wait@function+0x1f", by another name. */
static const char *rename_site(const char *text,
                               const char *name(const char *text, struct arena *arena),
                               struct arena *arena)
{
    const char *from = text + region_name_plain(text) + 1, *offset = from, *function;
    char *whole;
    size_t n;

    for (const char *next = from; (next = strstr(next, "+0x")) != NULL; next++)
        offset = next;
    if (offset == from) /* "halo.c:45" */
        return arena_string(arena, text);
    whole = arena_array(arena, char, (size_t)(offset - from) + 1);
    memcpy(whole, from, (size_t)(offset - from));
    whole[offset - from] = '\0';
    function = name(whole, arena);
    n = (size_t)(from - text) + strlen(function) + strlen(offset) + 1;
    whole = arena_array(arena, char, n);
    snprintf(whole, n, "%.*s%s%s", (int)(from - text), text, function, offset);
    return whole;
}

const char *region_name_canonical(const char *text, struct arena *arena)
{
    return text[region_name_plain(text)] == '@' ? rename_site(text, name_of_code, arena)
                                                : name_of_code(text, arena);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '~' || c == '$';
}

/* True when text[at] begins the word "operator". */
static bool is_operator(const char *text, size_t at)
{
    return text[at] == 'o' && starts_with(text + at, "operator") &&
           (at == 0 || !is_word(text[at - 1])) && !is_word(text[at + 8]);
}

/* The first character after an operator's symbol, which may contain <, > and (). */
static size_t skip_operator(const char *text, size_t at, size_t end)
{
    at += strlen("operator");
    if (starts_with(text + at, "()"))
        return at + 2;
    while (at < end && text[at] != '(')
        at++;
    return at;
}

/* Where the parameters begin: the first '(' outside <> that a name stands directly before. */
static size_t parameters_at(const char *text, size_t end)
{
    int depth = 0;

    for (size_t i = 0; i < end; i++) {
        if (is_operator(text, i)) {
            i = skip_operator(text, i, end) - 1;
            if (i + 1 < end && text[i + 1] == '(')
                return i + 1;
        } else if (text[i] == '(' && starts_with(text + i, "(anonymous namespace)")) {
            i += strlen("(anonymous namespace)") - 1;
        } else if (text[i] == '<') {
            depth++;
        } else if (text[i] == '>' && depth > 0) {
            depth--;
        } else if (text[i] == '(' && depth == 0) {
            return i > 0 && (is_word(text[i - 1]) || text[i - 1] == '>') ? i : end;
        }
    }
    return end;
}

/* Where the last two "::" parts of text[0..end) begin, leaving out what stands before a space.
 */
static size_t last_two_parts(const char *text, size_t end)
{
    size_t part = 0, part_before = 0;
    int depth = 0;

    for (size_t i = 0; i < end; i++) {
        if (is_operator(text, i))
            break;
        if (text[i] == '<' || text[i] == '(') {
            depth++;
        } else if ((text[i] == '>' || text[i] == ')') && depth > 0) {
            depth--;
        } else if (depth == 0 && strchr(" *&", text[i])) {
            part = part_before = i + 1;
        } else if (depth == 0 && text[i] == ':' && text[i + 1] == ':' && i + 2 < end) {
            part_before = part;
            part = i + 2;
            i++;
        }
    }
    return part_before;
}

/* Copies text[begin..end) without template arguments; returns the new end of out. */
static char *copy_without_templates(char *out, const char *text, size_t begin, size_t end)
{
    int depth = 0;

    for (size_t i = begin; i < end; i++) {
        if (depth == 0 && is_operator(text, i)) {
            memcpy(out, text + i, end - i);
            return out + (end - i);
        }
        if (text[i] == '<')
            depth++;
        else if (text[i] == '>' && depth > 0)
            depth--;
        else if (depth == 0)
            *out++ = text[i];
    }
    return out;
}

static const char *shorten(const char *canonical, struct arena *arena)
{
    const char *position = strstr(canonical, " [{"); /* TAU's file and lines */
    size_t end =
        position && position > canonical ? (size_t)(position - canonical) : strlen(canonical);
    size_t parameters = parameters_at(canonical, end);
    char *name = arena_array(arena, char, end + 1), *name_end;
    size_t begin = 0;

    if (parameters < end || memmem(canonical, end, "::", 2))
        begin = last_two_parts(canonical, parameters);
    name_end = copy_without_templates(name, canonical, begin, parameters);
    if (name_end == name) { /* nothing but brackets: better the whole than none */
        memcpy(name, canonical, end);
        name_end = name + end;
    }
    *name_end = '\0';
    return text_printable(name);
}

const char *region_name_short(const char *canonical, struct arena *arena)
{
    return canonical[region_name_plain(canonical)] == '@'
               ? rename_site(canonical, shorten, arena)
               : shorten(canonical, arena);
}

const char *region_name_last(const char *short_name)
{
    const char *last = short_name;

    for (const char *at = short_name; (at = strstr(at, "::")) != NULL;) {
        at += 2;
        if (*at)
            last = at;
    }
    return last;
}

enum region_kind region_name_kind(const char *canonical)
{
    static const struct {
        const char *start;
        bool is_whole; /* the name is just this */
        enum region_kind kind;
    } known[] = {
        {"MPI_", false, REGION_MPI},
        {"PMPI_", false, REGION_MPI},
        {"!$omp", false, REGION_OPENMP},
        {"omp_", false, REGION_OPENMP},
        {"OpenMP", false, REGION_OPENMP},
        {"pthread_", false, REGION_OPENMP},
        {"Working", true, REGION_RUNTIME},
        {".TAU", false, REGION_RUNTIME},
        {"linux:", false, REGION_RUNTIME},
        {"FLUSH", true, REGION_TRACER}, /* EZTrace's */
        {"EZTrace finalize", true, REGION_TRACER},
        {"TRACE BUFFER FLUSH", true, REGION_TRACER}, /* Score-P's, and the next one */
        {"MEASUREMENT OFF", true, REGION_TRACER},
        {REGION_BUFFER_FLUSH, true, REGION_TRACER},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].is_whole ? strcmp(canonical, known[i].start) == 0
                              : starts_with(canonical, known[i].start))
            return known[i].kind;
    return REGION_USER;
}

bool region_name_is_flush(const char *canonical)
{
    return strstr(canonical, "FLUSH") != NULL;
}
