/* text -- numbers as people read them, and the words they may have meant. */
#ifndef SNAG_BASE_TEXT_H
#define SNAG_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_SIZE 32 /* enough for any of the numbers below */

/* text_duration -- "38.1 ms", "50 ns", "12.0 s": three digits, the unit that fits, from 10 ns
 * no parts of a nanosecond. Returns out. */
char *text_duration(double ns, char out[TEXT_SIZE]);

/* text_parse_duration -- ns of "20us", "2.5ms", "1s" or "0"; false for anything else. */
bool text_parse_duration(const char *text, uint64_t *ns);

/* text_count -- "1,234,567". Returns out. */
char *text_count(uint64_t n, char out[TEXT_SIZE]);

/* text_bytes -- "1.5 MiB". Returns out. */
char *text_bytes(double bytes, char out[TEXT_SIZE]);

/* text_plural -- "" for one, "s" for any other number. */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/*
 * text_printable -- replace control characters by '?', in place, so that a name from outside
 * stays on its line and cannot move the cursor. Returns text.
 */
char *text_printable(char *text);

/*
 * text_distance -- how far b is from a, ignoring case: 0 equal, 1 one of them contains the
 * other, else 1 + the number of insertions, deletions, replacements (Levenshtein), or SIZE_MAX
 * when that is more than `most`. Looks at the first 256 bytes. Cost O(length a x length b).
 */
size_t text_distance(const char *a, const char *b, size_t most);

#endif
