/* The labels that a client sends. What is taken is what a reader of the whole tree finds. */
#include "fuzz.h"

#include "serve/api_learning.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

static void check_item(const struct label_item *item, const json_t *label)
{
    const json_t *tree = json_object_get(label, "tree");
    const char *word = json_string_value(json_object_get(label, "label"));

    if (!json_is_integer(tree) || json_integer_value(tree) != item->tree || word == NULL)
        abort();
    if ((item->label == LABEL_NONE) != (strcasecmp(word, "clear") == 0))
        abort();
}

static void check_list(const struct label_list *list, const json_t *body)
{
    const json_t *labels = json_object_get(body, "labels"), *label;
    const char *author = json_string_value(json_object_get(body, "author"));
    size_t i;

    if (!json_is_array(labels) || json_array_size(labels) != list->n ||
        strcmp(author ? author : "", list->author) != 0)
        abort();
    json_array_foreach(labels, i, label) check_item(&list->item[i], label);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct label_list list = {0};

    if (label_list_read(&list, (const char *)data, size) == 0) {
        /* What it does not look at may be what jansson refuses: a number too large, a NUL. */
        json_t *body = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);

        if (body)
            check_list(&list, body);
        json_decref(body);
    }
    if (list.n > size / 24)
        abort();
    label_list_release(&list);
    return 0;
}
