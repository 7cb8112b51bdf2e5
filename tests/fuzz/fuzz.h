/*
 * fuzz -- the entry point that every fuzz_*.c defines: some bytes from outside, which may be
 * anything, through one reader. Whatever they are, it must return; sanitizers watch.
 *
 * libFuzzer calls it (cmake --preset fuzz, with clang); repeat.c calls it with the files of a
 * directory, which is what ctest does.
 */
#ifndef SNAG_TESTS_FUZZ_H
#define SNAG_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
