/* A record of a provenance store, first as it is in the file, then as if its checksum were
 * right; what is accepted is made to JSON, and must come back from bytes the same. */
#include "fuzz.h"

#include "prov/prov_record.h"

#include <stdlib.h>

/* What is packed again is read again, to the same JSON. */
static void use(const struct prov_record *record, struct arena *arena)
{
    json_t *before = prov_record_to_json(record, NULL), *after;
    struct prov_record back;
    struct pack pack = {0};

    prov_record_pack(record, &pack);
    if (prov_record_unpack(&pack, arena, &back) < 0)
        abort();
    after = prov_record_to_json(&back, NULL);
    if (!json_equal(before, after))
        abort();
    json_decref(before);
    json_decref(after);
    pack_release(&pack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack plain = {.data = (unsigned char *)(uintptr_t)data, .n = size};
    struct prov_record record;
    struct arena arena = {0};

    if (prov_record_read(data, size, &arena, &record) == 0)
        use(&record, &arena);
    if (prov_record_unpack(&plain, &arena, &record) == 0)
        use(&record, &arena);
    arena_release(&arena);
    return 0;
}
