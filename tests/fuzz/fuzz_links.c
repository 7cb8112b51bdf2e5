/* Rules of what belongs together, which reach the reader as a text. */
#include "fuzz.h"

#include "trace/chrome/link_rules.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct link_rules rules = {.most_args = 8};
    char *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    if (link_rules_add(&rules, text, "fuzz") == 0)
        link_rules_find(&rules, 0, "a name");
    link_rules_release(&rules);
    free(text);
    return 0;
}
