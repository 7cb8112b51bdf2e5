/*
 * fuzz_bytes -- changes of bytes that are known to be good, as an input says them:
 *
 *     | offset | how many | that many bytes | offset ...
 *
 * With how many 0 they end at the offset.
 */
#ifndef SNAG_TESTS_FUZZ_BYTES_H
#define SNAG_TESTS_FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>

/*
 * fuzz_change -- applies one change.
 *   bytes     (*n_bytes) changed; *n_bytes may become less
 *   n_offset  bytes of an offset, least first
 * Returns how many bytes of the input it was, 0 at the end.
 */
size_t fuzz_change(void *bytes, size_t *n_bytes, unsigned n_offset, const uint8_t *data,
                   size_t size);

/* fuzz_must -- what has to succeed before anything can be damaged: says why and aborts. */
void fuzz_must(int rc);

#endif
