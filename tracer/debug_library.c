/*
 * Each function has a jump here that goes to where dlsym() found it. The linker says so if one
 * that is called is not in the list.
 *
 * They are loaded when the tracer is: later it may be asked where nothing can be loaded, in a
 * program that has no memory left, or holds the loader's lock.
 */
#include "debug_library.h"

#include <dlfcn.h>
#include <stddef.h>

#define DEBUG_LIBRARY_FUNCTIONS(take)                                                          \
    take(dwarf_addrdie) take(dwarf_attr) take(dwarf_attr_integrate) take(dwarf_begin_elf)      \
        take(dwarf_cfi_addrframe) take(dwarf_child) take(dwarf_decl_file)                      \
            take(dwarf_decl_line) take(dwarf_diecu) take(dwarf_diename) take(dwarf_dieoffset)  \
                take(dwarf_formaddr) take(dwarf_formref_die) take(dwarf_formstring)            \
                    take(dwarf_formudata) take(dwarf_frame_cfa) take(dwarf_frame_info)         \
                        take(dwarf_frame_register) take(dwarf_getcfi_elf)                      \
                            take(dwarf_getsrc_die) take(dwarf_haspc) take(dwarf_lineno)        \
                                take(dwarf_linesrc) take(dwarf_new_oom_handler)                \
                                    take(dwarf_nextcu) take(dwarf_offdie) take(dwarf_ranges)   \
                                        take(dwarf_siblingof) take(dwarf_srclang)              \
                                            take(dwarf_tag) take(dwelf_elf_gnu_build_id)       \
                                                take(elf_end) take(elf_memory)                 \
                                                    take(elf_version)

#define JUMP(function)                                                                         \
    static void *debug_library_##function __attribute__((used));                               \
    __asm__(".pushsection .text\n"                                                             \
            ".globl " #function "\n"                                                           \
            ".hidden " #function "\n"                                                          \
            ".type " #function ", @function\n" #function ":\n"                                 \
            "\tjmp *debug_library_" #function "(%rip)\n"                                       \
            ".size " #function ", . - " #function "\n"                                         \
            ".popsection\n");

DEBUG_LIBRARY_FUNCTIONS(JUMP)

static bool is_there;

#define ROW(function) {#function, &debug_library_##function},

__attribute__((constructor)) static void load(void)
{
    static const struct {
        const char *name;
        void **address;
    } functions[] = {DEBUG_LIBRARY_FUNCTIONS(ROW)};
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    is_there = library != NULL;
    for (size_t i = 0; is_there && i < sizeof functions / sizeof *functions; i++) {
        *functions[i].address = dlsym(library, functions[i].name);
        is_there = *functions[i].address != NULL;
    }
}

bool debug_library_code(uintptr_t *of_libdw, uintptr_t *of_libelf)
{
    *of_libdw = (uintptr_t)debug_library_dwarf_nextcu;
    *of_libelf = (uintptr_t)debug_library_elf_memory;
    return is_there;
}
