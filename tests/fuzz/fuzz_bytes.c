#include "fuzz_bytes.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_change(void *bytes, size_t *n_bytes, unsigned n_offset, const uint8_t *data,
                   size_t size)
{
    size_t at = 0, n, end;

    if (size <= n_offset)
        return 0;
    for (unsigned i = 0; i < n_offset; i++)
        at |= (size_t)data[i] << (8 * i);
    n = data[n_offset] < size - n_offset - 1 ? data[n_offset] : size - n_offset - 1;
    at = at < *n_bytes ? at : *n_bytes;
    end = at + n < *n_bytes ? at + n : *n_bytes;
    memcpy((char *)bytes + at, data + n_offset + 1, end - at);
    if (data[n_offset] == 0)
        *n_bytes = at;
    return n_offset + 1 + n;
}

void fuzz_must(int rc)
{
    if (rc < 0) {
        fprintf(stderr, "%s\n", err_message());
        abort();
    }
}
