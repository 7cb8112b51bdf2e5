/*
 * short_names -- what many functions are shown as: short, and never the same for two.
 *
 * Each has the shortest of its names (region_name_longer) that is no other's. Of names that are
 * alike all get longer, the ones that were there before, too:
 *
 *     PassManager<llvm::Function>          PassManager<llvm::Function>
 *     PassManager<llvm::Loop>              PassManager<llvm::Loop>
 *     llvm::Verifier::run(Function&)       Verifier::run
 */
#ifndef SNAG_TRACE_SHORT_NAMES_H
#define SNAG_TRACE_SHORT_NAMES_H

#include "base/names.h"

#include <stddef.h>
#include <stdint.h>

/* A zeroed struct is empty and ready. */
struct short_names {
    const char **shown; /* [n] as they are added */
    uint32_t n;
    struct short_name *of; /* [n] */
    size_t cap, shown_cap;
    struct names text; /* all that was ever shown or would have been */
    uint32_t *owner;   /* [text.n] whose it is, or NAMES_NONE: of several */
    size_t owner_cap;
    uint32_t *changed; /* [n_changed] those that the last short_names_add has given a name */
    size_t n_changed, changed_cap;
};

void short_names_release(struct short_names *names);

/*
 * short_names_add -- one more.
 *   canonical  other than all before; must last as long as this
 * O(length), and of those whose names get longer.
 */
void short_names_add(struct short_names *names, const char *canonical);

#endif
