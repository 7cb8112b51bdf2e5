#include "lines.h"

#include "loaded.h"
#include "memory.h"
#include "trace/tracer/debug_info.h"

#include <stdio.h>
#include <string.h>

struct question {
    uintptr_t code;
    struct line line;
};

static void find_line(void *ctx)
{
    struct question *q = ctx;
    struct debug_file *file;
    struct loaded in;
    const char *path;
    Dwarf_Die unit;
    Dwarf_Line *at;
    int number;

    if (!loaded_at(q->code, &in) || (file = debug_file(in.path, in.build_id)) == NULL ||
        !debug_unit(file, q->code - in.to, &unit) ||
        (at = dwarf_getsrc_die(&unit, q->code - in.to)) == NULL ||
        dwarf_lineno(at, &number) != 0 || number <= 0 ||
        (path = dwarf_linesrc(at, NULL, NULL)) == NULL)
        return;
    q->line = (struct line){memory_copy(path), (uint32_t)number};
}

struct line line_of_call(uintptr_t return_address)
{
    struct question q = {.code = return_address - 1};

    return debug_safely(find_line, &q) ? q.line : (struct line){0};
}

char *line_name(uintptr_t return_address)
{
    struct line line = line_of_call(return_address);
    const char *slash = line.file ? strrchr(line.file, '/') : NULL;
    char text[320];

    if (line.file == NULL)
        return NULL;
    snprintf(text, sizeof text, "%.255s:%u", slash ? slash + 1 : line.file, line.number);
    memory_free(line.file);
    return memory_copy(text);
}
