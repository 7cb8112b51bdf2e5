/*
 * json_input -- the bytes of a file, whatever it is compressed with: nothing, gzip or zstd.
 *
 * Which of them it is, its first bytes say. A gzip file may have several members, as those have
 * that were compressed in parallel. The bytes go by in pieces; a file of any size needs the
 * same little memory.
 */
#ifndef SNAG_TRACE_JSON_INPUT_H
#define SNAG_TRACE_JSON_INPUT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
