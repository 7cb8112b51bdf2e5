/* test -- what every unit test includes: cmocka, with the headers it wants before it. */
#ifndef SNAG_BASE_TEST_H
#define SNAG_BASE_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#endif
