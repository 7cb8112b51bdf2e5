/*
 * sample_answer -- what a store of provenance answers to a test, whose checks are cmocka's. Each
 * question opens it anew.
 */
#ifndef SNAG_TESTS_SAMPLE_ANSWER_H
#define SNAG_TESTS_SAMPLE_ANSWER_H

#include <stdint.h>

/* sample_answer -- all rows, a line each: `TYPE VALUE|` for each column, with SQLite's
 * number of the type. To be freed. */
char *sample_answer(const char *url, const char *sql);

/* sample_answer_number -- the first value; sample_answer_is -- it is this text. */
int64_t sample_answer_number(const char *url, const char *sql);
void sample_answer_is(const char *url, const char *sql, const char *expected);

#endif
