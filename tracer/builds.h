/*
 * builds -- which build of the program and of its libraries was run: the build ids that their
 * linker gave them, by which debug information is found, today's or that of years ago.
 */
#ifndef SNAG_TRACER_BUILDS_H
#define SNAG_TRACER_BUILDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MOST 64 /* bytes of one */
#define BUILD_ID_TEXT (2 * BUILD_ID_MOST + 1)

/* build_id_at -- that of the file that was loaded to an address (link_map's l_addr), as
 * hexadecimal digits. False if it has none. */
bool build_id_at(uintptr_t loaded_to, char id[BUILD_ID_TEXT]);

/* builds_remember -- look at what is loaded; it takes the dynamic linker's lock, so not when a
 * program is being ended, wherever it was. */
void builds_remember(void);

struct build {
    char *path, *id;
};

/* builds_known -- (n) all that were ever seen, the program first. */
const struct build *builds_known(size_t *n);

#endif
