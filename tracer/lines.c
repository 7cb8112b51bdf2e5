#include "lines.h"

#include "loaded.h"
#include "memory.h"
#include "trace/tracer/debug_info.h"

#include <stdio.h>
#include <string.h>

struct line_question {
    uintptr_t code;
    struct source_line line;
};

static void find_line(void *ctx)
{
    struct line_question *q = ctx;
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
    q->line = (struct source_line){memory_copy(path), (uint32_t)number};
}

struct source_line line_of_call(uintptr_t return_address)
{
    struct line_question q = {.code = return_address - 1};

    return debug_safely(find_line, &q) ? q.line : (struct source_line){0};
}

char *line_name(uintptr_t return_address)
{
    struct source_line line = line_of_call(return_address);
    const char *slash = line.file ? strrchr(line.file, '/') : NULL;
    char text[320];

    if (line.file == NULL)
        return NULL;
    snprintf(text, sizeof text, "%.255s:%u", slash ? slash + 1 : line.file, line.number);
    memory_free(line.file);
    return memory_copy(text);
}
