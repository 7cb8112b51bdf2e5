/* text -- numbers as people read them, and the words they may have meant. */
#ifndef SNAG_BASE_TEXT_H
#define SNAG_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_SIZE 32 /* enough for any of the numbers below */

/* text_score -- two digits behind the point, or as many more as it takes to see one: those of a
 * one-class SVM are often small. What is below 1e-6 is 0. Returns out. */
char *text_score(double score, char out[TEXT_SIZE]);

/* text_duration -- "38.1 ms", "50 ns", "12.0 s": three digits, the unit that fits, from 10 ns
 * no parts of a nanosecond. Returns out. */
char *text_duration(double ns, char out[TEXT_SIZE]);

#define TEXT_RANGE_SIZE (2 * TEXT_SIZE + 8)

/* text_is_range -- the least is so far below the most that one number does not stand for both. */
static inline bool text_is_range(double least, double most)
{
    return least < 0.9 * most;
}

/* text_place -- "rank 3", or of a thread "rank 3.1". Returns out. */
char *text_place(uint32_t rank, uint32_t thread, char out[TEXT_SIZE]);

/* text_duration_range -- "29.2 to 36.4 ms", "950 us to 1.20 ms", "at most 36.4 ms" from 0 on; the most
 * alone where that stands for both. Returns out. */
char *text_duration_range(double least_ns, double most_ns, char out[TEXT_RANGE_SIZE]);

/* text_duration_or_range -- the range that it lies in, or itself where that is none. Returns out. */
char *text_duration_or_range(double ns, double least_ns, double most_ns,
                             char out[TEXT_RANGE_SIZE]);

/* text_parse_duration -- ns of "20us", "2.5ms", "1s" or "0"; false for anything else. */
bool text_parse_duration(const char *text, uint64_t *ns);

/* text_count -- "1,234,567". Returns out. */
char *text_count(uint64_t n, char out[TEXT_SIZE]);

/* text_bytes -- "1.5 MiB". Returns out. */
char *text_bytes(double bytes, char out[TEXT_SIZE]);

/* text_ends_with -- n bytes of text do. */
bool text_ends_with(const char *text, size_t n, const char *end);

/* text_plural -- "" for one, "s" for any other number. */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#define TEXT_UTC_SIZE 32

/* A buffer that is written to the end of; what does not fit is left out. */
struct text_writer {
    char *out;
    size_t n, size; /* bytes of it before the zero; of the buffer, at least 1 */
};

void text_say(struct text_writer *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* text_new -- as printf, to be freed; text_new_of with the arguments of another function. */
char *text_new(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *text_new_of(const char *fmt, va_list args);

/* text_open -- a file in memory: once it is closed, text is what was written to it, to be freed, n its bytes, which a
 * zero follows. Ends the program where there is no memory, as mem_alloc does. */
FILE *text_open(char **text, size_t *n);

/* text_names -- the names of a table's rows, with commas between; name(i) is NULL after the last
 * row. Returns out. */
char *text_names(const char *(*name)(size_t i), char *out, size_t size);

/* text_number_behind -- where a number begins that follows on a word in a text, with nothing but
 * blanks or one of :#_=[ between; NULL if there is none. */
const char *text_number_behind(const char *text, const char *word);

/* text_utc -- nanoseconds since 1970 as "2026-11-23T15:04:05.123Z". Returns out. */
char *text_utc(uint64_t ns, char out[TEXT_UTC_SIZE]);

/* text_utc_now -- the time as it is written down: "2026-11-23T15:04:05Z". Returns out. */
char *text_utc_now(char out[TEXT_UTC_SIZE]);

/* text_now_ns -- nanoseconds since 1970, by the machine's clock. */
uint64_t text_now_ns(void);

#define TEXT_NO_CODE 0xffffu /* no character has this code */

/*
 * text_decode -- how many bytes the character at the beginning of a text has, and its code
 * point; 1 and TEXT_NO_CODE where that is no UTF-8. Does not look after a zero.
 */
size_t text_decode(const char *text, uint32_t *code);

/* text_continues -- a byte of UTF-8 that is not the first of its character. */
static inline bool text_continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * text_utf8 -- a copy of n bytes in which what is no UTF-8 is U+FFFD; zeros stay.
 *   n_out  out: bytes of the copy, a zero follows them; or NULL
 */
char *text_utf8(const char *text, size_t n, size_t *n_out);

/*
 * text_printable -- replace by '?', in place, what a name from outside should not do to a
 * terminal: control characters (also those above 0x7f), marks that turn the direction of the
 * text, separators of lines, and bytes that are no UTF-8. So it stays on its line, where it is,
 * as it reads. Returns text.
 */
char *text_printable(char *text);

/*
 * text_next_harmful -- where the first of these is, or the end of the text.
 *   length, code  out: of it; length 0 at the end, code TEXT_NO_CODE for what is no UTF-8
 */
size_t text_next_harmful(const char *text, size_t *length, uint32_t *code);

/*
 * text_distance -- how far b is from a, ignoring case: 0 equal, 1 one of them contains the
 * other, else 1 + the number of insertions, deletions, replacements and swaps of neighbours
 * (restricted Damerau-Levenshtein), or SIZE_MAX when that is more than `most`. Looks at the
 * first 256 bytes. Cost O(length a x length b).
 */
size_t text_distance(const char *a, const char *b, size_t most);

/* text_typos -- how far off (text_distance) a word may be and still be meant by who typed it.
 */
size_t text_typos(const char *word);

#endif
