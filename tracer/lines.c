#include "lines.h"

#include "complain.h"
#include "debug_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line line_of(uintptr_t function)
{
    Dwarf_Addr address;
    struct debug_function *found = debug_function(function, &address);
    const char *file = found ? dwarf_decl_file(&found->die) : NULL;
    int number;

    if (file == NULL || dwarf_decl_line(&found->die, &number) != 0 || number < 0)
        return (struct line){0};
    return (struct line){must_copy(file), (uint32_t)number};
}

struct line line_of_call(uintptr_t return_address)
{
    const char *path;
    Dwarf_Addr address;
    Dwarf_Die unit;
    Dwarf_Line *at;
    int number;

    if (!debug_unit(return_address - 1, &unit, &address) ||
        (at = dwarf_getsrc_die(&unit, address)) == NULL || dwarf_lineno(at, &number) != 0 ||
        number <= 0 || (path = dwarf_linesrc(at, NULL, NULL)) == NULL)
        return (struct line){0};
    return (struct line){must_copy(path), (uint32_t)number};
}

char *line_name(uintptr_t return_address)
{
    struct line line = line_of_call(return_address);
    const char *slash = line.file ? strrchr(line.file, '/') : NULL;
    char text[320];

    if (line.file == NULL)
        return NULL;
    snprintf(text, sizeof text, "%.255s:%u", slash ? slash + 1 : line.file, line.number);
    free(line.file);
    return must_copy(text);
}
