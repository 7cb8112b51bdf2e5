/* json -- values as JSON: texts of any bytes, counts. */
#ifndef SNAG_BASE_JSON_H
#define SNAG_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* json_text -- a JSON string of any bytes; what is not UTF-8 becomes U+FFFD. */
json_t *json_text(const char *text);

/* json_text_n -- the same of so many bytes, zeros among them. */
json_t *json_text_n(const char *text, size_t n);

/* json_number -- a JSON number; null for what JSON has no number for. */
json_t *json_number(double value);

/*
 * json_put -- write a value. What text_printable replaces is written as \uXXXX: the value is
 * the same, and a terminal is left in peace.
 *   flags  of json_dumps
 */
void json_put(FILE *out, const json_t *json, size_t flags);

/* json_count -- a JSON integer. */
json_t *json_count(uint64_t n);

/* json_set_off -- by how much a time of an object may be off (known.h), in `off_ns`; where it
 * is known exactly there is no such key. */
void json_set_off(json_t *object, double off_ns);

/* json_set_range -- between which two a cost lies, in `cost_least_ns` and `cost_most_ns`: nulls
 * where that is not known. */
void json_set_range(json_t *object, bool is_known, uint64_t least_ns, uint64_t most_ns);

#endif
