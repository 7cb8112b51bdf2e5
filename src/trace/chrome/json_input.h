/*
 * json_input -- the bytes of a file, whatever it is compressed with: nothing, gzip or zstd;
 * and JSON as it is found in the wild, made such that a strict parser reads it in linear time
 * and bounded memory.
 *
 * How it is compressed, its first bytes say. A gzip file may have several members, as those
 * have that were compressed in parallel. The bytes go by in pieces; a file of any size needs
 * the same little memory.
 *
 * Left out are a byte order mark, comments, commas that part nothing (before a closing
 * bracket, behind an opening one, behind another comma: Perfetto and spreadsheets write and
 * read these), and of any string or number what goes beyond JSON_MAX_TOKEN_BYTES bytes:
 * parsers look at an unfinished token again from its beginning whenever more bytes come, which
 * is quadratic. Such a string ends with the byte JSON_CUT, which no UTF-8 has. A comma is put
 * between a closing and an opening bracket that have none, as those of JSON lines, and of one
 * file behind another; NaN and infinity, which JSON does not have, become null, or -1e999 with
 * a sign. Everything else, line ends too, stays as it is and where it is.
 */
#ifndef SNAG_TRACE_JSON_INPUT_H
#define SNAG_TRACE_JSON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_INPUT_PIECE 65536u /* bytes that are handed over at most */

/* Takes the next n bytes, 1 to JSON_INPUT_PIECE. */
typedef void json_input_fn(void *ctx, const unsigned char *text, size_t n);

/*
 * json_input_read -- all bytes of a file.
 *   path    "-" for standard input
 *   is_cut  out: it is compressed, and its end is missing or damaged
 * Returns 0 or ERR_IO.
 */
int json_input_read(const char *path, json_input_fn *take, void *ctx, bool *is_cut);

/*
 * json_input_head -- as many of the first bytes as there are, up to size.
 * Returns how many; 0 too when it cannot be read.
 */
size_t json_input_head(const char *path, unsigned char *head, size_t size);

#define JSON_MAX_TOKEN_BYTES 65536u
#define JSON_CUT 0xff                     /* the last byte of a string that was cut */
#define JSON_FILTER_ROOM(n) (5 * (n) + 5) /* what n bytes may become */

enum json_filter_state {
    JSON_FILTER_BETWEEN, /* tokens */
    JSON_FILTER_WORD,    /* a number, true, false, null */
    JSON_FILTER_STRING,
    JSON_FILTER_ESCAPE, /* after a \ in a string */
    JSON_FILTER_SLASH,  /* the first of a comment */
    JSON_FILTER_LINE,   /* in a comment to the end of the line */
    JSON_FILTER_BLOCK,  /* in one that is closed */
    JSON_FILTER_STAR,   /* after a * in that */
};

/* A zeroed one is at the beginning of a file. */
struct json_filter {
    enum json_filter_state state;
    size_t n_token;     /* bytes of the current one so far */
    bool has_comma;     /* one is held back */
    bool is_cutting;    /* the rest of the current token is left out */
    unsigned char last; /* the last byte that is no blank */
    uint64_t n_read;    /* bytes so far */
};

/*
 * json_filter -- filter the next n bytes.
 *   out  room for JSON_FILTER_ROOM(n) bytes; may not overlap the input
 * Returns how many bytes there are in out. O(n).
 */
size_t json_filter(struct json_filter *filter, const unsigned char *text, size_t n,
                   unsigned char *out);

#endif
