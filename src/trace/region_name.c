/*
 * The short name is found by scanning once from the left, keeping track of the depth of <> and
 * () so that commas and "::" inside template arguments and parameters do not count:
 *
 *     return_type  ns :: Class<T> :: function  ( parameters )  const [{file}..]
 *                        ^ start of the last two parts  ^ first '(' at depth 0
 *
 * Of many, names that were given up stay taken: who comes later and would have one gets a
 * longer one. Between builds what is before and behind the line says which function, or which
 * file.
 */
#include "trace/region_name.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------- one name */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A demangled name in the making. */
struct plain {
    char text[MAX_REGION_NAME_BYTES + 1];
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

    if (n > MAX_REGION_NAME_BYTES - plain->n)
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
        } else if (strchr("<{", text[i])) { /* {lambda(int)#1} */
            depth++;
        } else if (strchr(">}", text[i]) && depth > 0) {
            depth--;
        } else if (text[i] == '(' && depth == 0) {
            return i > 0 && (is_word(text[i - 1]) || strchr(">]", text[i - 1])) ? i : end;
        }
    }
    return end;
}

/* Where the last parts of text[0..end) begin, that "::" is between; a return type, which there
 * is before parameters alone, ends with a space. */
struct name_parts {
    size_t last_two, all;
};

static struct name_parts find_parts(const char *text, size_t end, bool has_parameters)
{
    size_t part = 0, part_before = 0, all = 0;
    int depth = 0;

    for (size_t i = 0; i < end; i++) {
        if (is_operator(text, i))
            break;
        if (strchr("<({", text[i])) {
            depth++;
        } else if (strchr(">)}", text[i]) && depth > 0) {
            depth--;
        } else if (depth == 0 && has_parameters && strchr(" *&", text[i])) {
            part = part_before = all = i + 1;
        } else if (depth == 0 && text[i] == ':' && text[i + 1] == ':' && i + 2 < end) {
            part_before = part;
            part = i + 2;
            i++;
        }
    }
    return (struct name_parts){part_before, all};
}

/* Copies text[begin..end) without template arguments, which stand behind a name: <lambda> is
 * one itself. Returns the new end of out. */
static char *copy_without_templates(char *out, const char *text, size_t begin, size_t end)
{
    int depth = 0;

    for (size_t i = begin; i < end; i++) {
        if (depth == 0 && is_operator(text, i)) {
            memcpy(out, text + i, end - i);
            return out + (end - i);
        }
        if (text[i] == '<' && (depth > 0 || (i > begin && is_word(text[i - 1]))))
            depth++;
        else if (text[i] == '>' && depth > 0)
            depth--;
        else if (depth == 0)
            *out++ = text[i];
    }
    return out;
}

/* Where the "(88): " of "a.py(88): f" begins; 0: it is no such name. */
static size_t python_line(const char *name)
{
    for (const char *at = strchr(name, '('); at; at = strchr(at + 1, '(')) {
        size_t n = strspn(at + 1, "0123456789");

        if (n > 0 && at > name && starts_with(at + 1 + n, "): "))
            return (size_t)(at - name);
    }
    return 0;
}

/* Where the function begins in "a.py(88): f" and "a.py:C.f"; 0: it is no such name. */
static size_t python_function(const char *name)
{
    size_t line = python_line(name);
    const char *colon = strstr(name, ".py:");

    if (line > 0)
        return line + strcspn(name + line, " ") + 1;
    return colon && colon > name && colon[4] != '\0' && !strchr(" :0123456789", colon[4])
               ? (size_t)(colon + 4 - name)
               : 0;
}

/* Where TAU says file and lines, else the end. */
static size_t position_at(const char *canonical)
{
    const char *position = strstr(canonical, " [{");

    return position && position > canonical ? (size_t)(position - canonical)
                                            : strlen(canonical);
}

static const char *shorten(const char *canonical, int level, struct arena *arena)
{
    size_t end = position_at(canonical);
    size_t parameters = level < 3 ? parameters_at(canonical, end) : end;
    char *name = arena_array(arena, char, end + 1), *name_end = name;
    struct name_parts parts = find_parts(canonical, parameters, parameters < end);
    size_t begin = level < 2 ? parts.last_two : level == 2 ? parts.all : 0;

    if (level == 0) {
        name_end = copy_without_templates(name, canonical, begin, parameters);
    } else {
        memcpy(name, canonical + begin, parameters - begin);
        name_end += parameters - begin;
    }
    if (name_end == name) { /* nothing but brackets: better the whole than none */
        memcpy(name, canonical, end);
        name_end = name + end;
    }
    *name_end = '\0';
    return text_printable(name);
}

static const char *shortest(const char *canonical, struct arena *arena)
{
    return shorten(canonical, 0, arena);
}

static const char *region_name_longer(const char *canonical, int level, struct arena *arena)
{
    if (level == 0 && canonical[region_name_plain(canonical)] == '@')
        return rename_site(canonical, shortest, arena);
    if (level >= REGION_NAME_WHOLE || canonical[region_name_plain(canonical)] == '@' ||
        python_function(canonical) > 0)
        return text_printable(arena_string(arena, canonical));
    return shorten(canonical, level, arena);
}

const char *region_name_short(const char *canonical, struct arena *arena)
{
    return region_name_longer(canonical, 0, arena);
}

/* -------------------------------------------------------------------------- identity */

/* Where digits begin that end at `end`. */
static size_t digits_before(const char *name, size_t end)
{
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return end;
}

static struct region_line line_of_site(const char *name, size_t length)
{
    size_t begin = digits_before(name, length);

    for (const char *next = name; (next = strstr(next, "+0x")) != NULL;)
        begin = (size_t)((next += 3) - name);
    return (struct region_line){begin, length, begin};
}

/* ":7" before `end`, or none. */
static struct region_line colon_line(const char *name, size_t end, size_t length)
{
    size_t number = digits_before(name, end);

    return number < end && number > 1 && name[number - 1] == ':'
               ? (struct region_line){number - 1, end, number}
               : (struct region_line){length, length, length};
}

/*
 * "{134,1}-{214,1}]" of TAU's names, "(88)" of "a.py(88): f", ":7" of
 * "f (a.py:7)" and "$a.py:7 f", the number of a call site of MPI and of "!$omp for @a.c:7".
 */
static struct region_line region_name_line(const char *name)
{
    size_t length = strlen(name), python = python_line(name), position = position_at(name);
    const char *lines = position < length ? strstr(name + position, "} {") : NULL;

    if (name[region_name_plain(name)] == '@')
        return line_of_site(name, length);
    if (lines)
        return (struct region_line){(size_t)(lines - name) + 2, length,
                                    (size_t)(lines - name) + 3};
    if (python > 0)
        return (struct region_line){
            python, python + 2 + strspn(name + python + 1, "0123456789"), python + 1};
    if (name[0] == '$')
        return colon_line(name, strcspn(name, " "), length);
    if (starts_with(name, "!$omp ") && strstr(name, " @"))
        return colon_line(name, length, length);
    return length > 0 && name[length - 1] == ')' && strstr(name, " (")
               ? colon_line(name, length - 1, length)
               : (struct region_line){length, length, length};
}

const char *region_name_identity(const char *canonical, struct arena *arena)
{
    size_t length = strlen(canonical), plain = region_name_plain(canonical);
    struct region_line line = {plain, length, length};
    char *name;

    if (plain == length && position_at(canonical) < length)
        line.begin = position_at(canonical);
    else if (plain == length && !starts_with(canonical, "!$omp "))
        line = region_name_line(canonical);
    if (line.begin == length)
        return canonical;
    name = arena_array(arena, char, length + 1);
    memcpy(name, canonical, line.begin);
    memcpy(name + line.begin, canonical + line.end, length - line.end + 1);
    return name;
}

bool region_name_is(const char *shown, const char *name)
{
    struct arena arena = {0};
    const char *wanted = region_name_identity(shown, &arena);
    const char *identity = region_name_identity(name, &arena);
    bool is_so = false;

    for (int level = 0; level <= REGION_NAME_WHOLE && !is_so; level++)
        is_so = strcmp(region_name_longer(identity, level, &arena), wanted) == 0;
    arena_release(&arena);
    return is_so;
}

bool region_name_is_same(const char *a, const char *b)
{
    struct arena arena = {0};
    bool is_so = strcmp(region_name_identity(a, &arena), region_name_identity(b, &arena)) == 0;

    arena_release(&arena);
    return is_so;
}

const char *region_name_last(const char *short_name)
{
    size_t python = python_function(short_name);
    const char *last = short_name + python, *between = python > 0 ? "." : "::";
    size_t n = strlen(between);
    int depth = 0;

    for (const char *at = last; *at; at++) {
        depth += *at == '<' || *at == '(';
        depth -= depth > 0 && (*at == '>' || *at == ')');
        if (depth == 0 && starts_with(at, between) && at[n]) {
            last = at + n;
            at += n - 1;
        }
    }
    return last;
}

/*
 * What returns when a GPU has done something: cudaDeviceSynchronize, hipStreamSynchronize_spt,
 * cuMemcpyDtoH_v2; not cudaMemcpyAsync.
 */
static bool is_device_wait(const char *name)
{
    static const char *const apis[] = {"cuda", "cu", "hip", "ze"};
    static const char *const others[] = {"hsa_signal_wait_", "clFinish", "clWaitForEvents",
                                         "acc_wait"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (starts_with(name, others[i]))
            return true;
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        const char *call = name + strlen(apis[i]);

        if (starts_with(name, apis[i]) && isupper((unsigned char)*call))
            return strstr(call, "Synchronize") ||
                   (starts_with(call, "Memcpy") && strstr(call, "Async") == NULL);
    }
    return false;
}

static bool ends_in_word(const char *name, const char *word)
{
    size_t n = strlen(name), before = n - strlen(word);

    return text_ends_with(name, n, word) && (before == 0 || strchr(" .:", name[before - 1]));
}

/* "$array.py:600 block_until_ready", Array.block_until_ready, and what does that for several. */
static bool is_jax_wait(const char *name)
{
    return ends_in_word(name, "block_until_ready") ||
           (starts_with(name, "$api.py:") && ends_in_word(name, "try_to_block"));
}

/* Its profiler is in the trace itself, for seconds: "$profiler.py:101 start_trace". */
static bool is_jax_profiler(const char *name)
{
    return starts_with(name, "$profiler.py:") &&
           (ends_in_word(name, "start_trace") || ends_in_word(name, "stop_trace"));
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
        {REGION_AUTOGRAD_WAIT, true, REGION_OPENMP},
    };

    if (is_jax_wait(canonical))
        return REGION_DEVICE;
    if (is_jax_profiler(canonical))
        return REGION_TRACER;
    /* its file may be called MPI_halo.py, or omp_solver.py */
    if (python_function(canonical) > 0)
        return REGION_USER;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].is_whole ? strcmp(canonical, known[i].start) == 0
                              : starts_with(canonical, known[i].start))
            return known[i].kind;
    if (region_name_is_held_up(canonical))
        return REGION_RUNTIME;
    return is_device_wait(canonical) ? REGION_DEVICE : REGION_USER;
}

bool region_name_is_held_up(const char *canonical)
{
    return text_ends_with(canonical, strlen(canonical), REGION_HELD_UP);
}

bool region_name_is_flush(const char *canonical)
{
    return strstr(canonical, "FLUSH") != NULL;
}

/* ------------------------------------------------------------------------------- many names */

struct short_name {
    const char *canonical;
    int level;
};

void short_names_release(struct short_names *s)
{
    free(s->shown);
    free(s->of);
    free(s->owner);
    free(s->changed);
    names_release(&s->text);
    *s = (struct short_names){0};
}

/* Whose turn it is to get a name. */
static void turn(struct short_names *s, uint32_t i)
{
    *mem_push(&s->changed, &s->n_changed, &s->changed_cap) = i;
}

/* The first of the names of i, from its level on, that nobody else has or has had. Who has one
 * of them now comes behind. */
static void name(struct short_names *s, uint32_t i)
{
    struct short_name *of = &s->of[i];
    struct arena arena = {0};

    for (;; of->level++) {
        uint32_t n_before = s->text.n;
        uint32_t text =
            names_add(&s->text, region_name_longer(of->canonical, of->level, &arena));
        uint32_t other;

        s->shown[i] = s->text.name[text];
        if (text == n_before) {
            mem_grow(&s->owner, &s->owner_cap, s->text.n);
            s->owner[text] = i;
            break;
        }
        other = s->owner[text];
        if (other != NAMES_NONE && s->of[other].level < REGION_NAME_WHOLE) {
            s->owner[text] = NAMES_NONE;
            s->of[other].level++;
            turn(s, other);
        }
        if (of->level == REGION_NAME_WHOLE) { /* nobody else is called that */
            s->owner[text] = i;
            break;
        }
    }
    arena_release(&arena);
}

void short_names_add(struct short_names *s, const char *canonical)
{
    uint32_t i = s->n++;

    mem_grow(&s->shown, &s->shown_cap, s->n);
    mem_grow(&s->of, &s->cap, s->n);
    s->of[i] = (struct short_name){.canonical = canonical};
    s->n_changed = 0;
    turn(s, i);
    for (size_t k = 0; k < s->n_changed; k++)
        name(s, s->changed[k]);
}

/* ---------------------------------------------------------------------- names in two builds */

static bool has_line(const char *name)
{
    return name[region_name_line(name).begin] != '\0';
}

/* Whether all but the line is the same. */
static bool is_like(const char *a, struct region_line at, const char *b, struct region_line bt)
{
    return at.begin == bt.begin && strncmp(a, b, at.begin) == 0 &&
           strcmp(a + at.end, b + bt.end) == 0;
}

static unsigned long number(const char *at)
{
    return strtoul(at, NULL, at[-1] == 'x' ? 16 : 10);
}

/* The number of a call site, and which name it is of. */
struct numbered_site {
    unsigned long at;
    uint32_t name;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered_site *p = a, *q = b;

    return ORDER(p->at, q->at);
}

/* The places like `site` that are in these names and not in the others, in their order, to be
 * freed; how many. */
static size_t places_like(const char *site, const struct names *names, uint32_t n,
                          const struct names *others, uint32_t n_others,
                          struct numbered_site **out)
{
    struct region_line line = region_name_line(site);
    size_t n_sites = 0, cap = 0;

    *out = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = names->name[i];
        struct region_line other;

        if (strncmp(site, name, line.begin) !=
            0) /* as is_like says, without looking for a line */
            continue;
        other = region_name_line(name);
        if (!is_like(site, line, name, other) || names_find(others, name) < n_others)
            continue;
        mem_grow(out, &cap, n_sites + 1);
        (*out)[n_sites++] = (struct numbered_site){number(name + other.number), i};
    }
    if (n_sites > 0)
        qsort(*out, n_sites, sizeof **out, by_number);
    return n_sites;
}

uint32_t call_sites_same(const struct names *from, uint32_t n_from, uint32_t i,
                         const struct names *to, uint32_t n)
{
    const char *name = from->name[i];
    uint32_t same = names_find(to, name);
    struct numbered_site *here, *there;
    size_t n_here, n_there, k = 0;

    if (same < n)
        return same;
    if (!has_line(name))
        return NAMES_NONE;
    n_here = places_like(name, from, n_from, to, n, &here);
    n_there = places_like(name, to, n, from, n_from, &there);
    while (k < n_here && here[k].name != i)
        k++;
    same = n_here == n_there && k < n_there ? there[k].name : NAMES_NONE;
    free(here);
    free(there);
    return same;
}
