#include "trace/tracer/source_lines.h"

#include "trace/tracer/debug_info.h"

/* Who is without memory ends. */
bool debug_prepare(void)
{
    return true;
}

static void find_all(void *ctx)
{
    struct unified *u = ctx;

    for (uint32_t i = 0; i < u->region_name.n; i++) {
        struct unified_region *r = &u->region[i];
        struct debug_file *file =
            *r->file == '\0' && r->code ? debug_file(r->code->path, r->code->build_id) : NULL;
        struct debug_function *found = file ? debug_function(file, r->as->address) : NULL;
        const char *path = found ? dwarf_decl_file(&found->die) : NULL;
        int line;

        if (path == NULL || dwarf_decl_line(&found->die, &line) != 0 || line < 0)
            continue;
        r->file = path;
        r->line = (uint32_t)line;
    }
}

void source_lines_find(struct unified *u)
{
    debug_safely(find_all, u);
}
