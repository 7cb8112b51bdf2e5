/*
 * xxh -- XXH3 hashes, compiled into whoever includes this.
 *
 * Inline, because most of what is hashed is a few bytes of a size that the compiler knows. And
 * not from the library's functions that choose the widest vectors when the program runs: in
 * libxxhash 0.8.1 these return without clearing the upper halves of the registers, which makes
 * every floating-point operation after them several times slower.
 * Source: Yann Collet. XXH3. https://xxhash.com
 */
#ifndef SNAG_BASE_XXH_H
#define SNAG_BASE_XXH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#endif
