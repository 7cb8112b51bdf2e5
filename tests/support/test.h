/* test -- what every unit test includes: cmocka, with the headers it wants before it. */
#ifndef SNAG_TESTS_TEST_H
#define SNAG_TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * test_amount -- how much is tried of what only many tries show: `all`, but `few` in a build
 * with a sanitizer, which finds in a few what it finds, as what it makes of them is asked
 * elsewhere. With SNAG_LONG in the environment always all.
 */
static inline int test_amount(int all, int few)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return getenv("SNAG_LONG") ? all : few;
#else
    (void)few;
    return all;
#endif
}

/*
 * test_is_for_races -- whether this build looks for races between threads, so that what one thread does is left to
 * the others. With SNAG_LONG in the environment never.
 */
static inline bool test_is_for_races(void)
{
#ifdef __SANITIZE_THREAD__
    return !getenv("SNAG_LONG");
#else
    return false;
#endif
}

#endif
