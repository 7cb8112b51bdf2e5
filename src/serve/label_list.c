/*
 * yajl calls back for every token; the depth, and the key that was read last at each of two
 * depths, say where it is:
 *
 *     1  in the outer object: "labels" and "author" are here
 *     2  in the array of labels
 *     3  in a label: "tree" and "label" are here
 *
 * What is deeper, or below another key, is passed over.
 */
#include "serve/label_list.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#define MAX_DEPTH 64

enum key { KEY_OTHER, KEY_LABELS, KEY_AUTHOR, KEY_TREE, KEY_LABEL };

struct reader {
    struct label_list *list;
    unsigned depth; /* open brackets */
    enum key key;   /* of the value that comes next */
    bool is_in_labels, has_labels, has_author;
    bool has_tree, has_label; /* of the label that is being read */
    struct label_item now;
    int rc;
};

/* To yajl: go no further. */
static int stop(struct reader *r, const char *why)
{
    r->rc = err_set(ERR_USAGE, "%s", why);
    return 0;
}

static int is_no_label(struct reader *r)
{
    return stop(r, "a label is {\"tree\": 12, \"label\": \"abnormal|normal|clear\"}");
}

/* A value that is not what the key before it takes. */
static int check_place(struct reader *r)
{
    if (r->depth == 0)
        return stop(r, "the body is not an object");
    if (r->depth == 1 && r->key == KEY_LABELS)
        return stop(r, "'labels' must be an array");
    if (r->depth == 1 && r->key == KEY_AUTHOR)
        return stop(r, "'author' takes a text of up to 200 bytes");
    if (r->is_in_labels && (r->depth == 2 || (r->depth == 3 && r->key != KEY_OTHER)))
        return is_no_label(r);
    return 1;
}

static int open_bracket(struct reader *r)
{
    return ++r->depth <= MAX_DEPTH ? 1 : stop(r, "the body has too many brackets");
}

static int on_start_map(void *ctx)
{
    struct reader *r = ctx;

    if (r->is_in_labels && r->depth == 2)
        r->has_tree = r->has_label = false;
    else if (r->depth > 0 && !check_place(r))
        return 0;
    return open_bracket(r);
}

static int on_end_map(void *ctx)
{
    struct reader *r = ctx;
    struct label_list *list = r->list;

    r->depth--;
    if (!r->is_in_labels || r->depth != 2)
        return 1;
    if (!r->has_tree || !r->has_label)
        return is_no_label(r);
    mem_grow(&list->item, &list->cap, list->n + 1, sizeof *list->item);
    list->item[list->n++] = r->now;
    return 1;
}

static int on_start_array(void *ctx)
{
    struct reader *r = ctx;

    if (r->depth == 1 && r->key == KEY_LABELS)
        r->is_in_labels = r->has_labels = true;
    else if (!check_place(r))
        return 0;
    return open_bracket(r);
}

static int on_end_array(void *ctx)
{
    struct reader *r = ctx;

    if (--r->depth == 1)
        r->is_in_labels = false;
    return 1;
}

static bool is_word(const unsigned char *text, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

static int on_key(void *ctx, const unsigned char *text, size_t n)
{
    struct reader *r = ctx;
    bool is_twice;

    r->key = KEY_OTHER;
    if (r->depth == 1 && is_word(text, n, "labels"))
        r->key = KEY_LABELS;
    else if (r->depth == 1 && is_word(text, n, "author"))
        r->key = KEY_AUTHOR;
    else if (r->is_in_labels && r->depth == 3 && is_word(text, n, "tree"))
        r->key = KEY_TREE;
    else if (r->is_in_labels && r->depth == 3 && is_word(text, n, "label"))
        r->key = KEY_LABEL;
    is_twice = (r->key == KEY_LABELS && r->has_labels) ||
               (r->key == KEY_AUTHOR && r->has_author) || (r->key == KEY_TREE && r->has_tree) ||
               (r->key == KEY_LABEL && r->has_label);
    return is_twice ? stop(r, "a member is there twice") : 1;
}

static int take_author(struct reader *r, const unsigned char *text, size_t n)
{
    if (n == 0 || n > LABEL_LIST_MAX_AUTHOR_BYTES || memchr(text, '\0', n))
        return check_place(r);
    memcpy(r->list->author, text, n);
    r->has_author = true;
    return 1;
}

static int take_label(struct reader *r, const unsigned char *text, size_t n)
{
    char word[16] = "";

    if (n < sizeof word)
        memcpy(word, text, n);
    r->has_label = true;
    r->rc = strlen(word) == n ? label_parse(word, &r->now.label) : ERR_USAGE;
    return r->rc == 0 ? 1 : is_no_label(r);
}

static int on_string(void *ctx, const unsigned char *text, size_t n)
{
    struct reader *r = ctx;

    if (r->depth == 1 && r->key == KEY_AUTHOR)
        return take_author(r, text, n);
    if (r->key == KEY_LABEL && r->is_in_labels && r->depth == 3)
        return take_label(r, text, n);
    return check_place(r);
}

static int on_number(void *ctx, const char *text, size_t n)
{
    struct reader *r = ctx;
    char copy[24], *end;

    if (r->key != KEY_TREE || !r->is_in_labels || r->depth != 3)
        return check_place(r);
    if (n >= sizeof copy)
        return is_no_label(r);
    memcpy(copy, text, n);
    copy[n] = '\0';
    errno = 0;
    r->now.tree = strtoll(copy, &end, 10);
    r->has_tree = true;
    return *end == '\0' && errno == 0 ? 1 : is_no_label(r);
}

/* No author is the same as none that is said. */
static int on_null(void *ctx)
{
    struct reader *r = ctx;

    return r->depth == 1 && r->key == KEY_AUTHOR ? 1 : check_place(r);
}

static int on_boolean(void *ctx, int value)
{
    (void)value;
    return check_place(ctx);
}

static int complain(yajl_handle json)
{
    unsigned char *why = yajl_get_error(json, 0, NULL, 0);
    int rc = err_set(ERR_USAGE, "the body is not JSON: %.*s",
                     (int)strcspn((const char *)why, "\n"), (const char *)why);

    yajl_free_error(json, why);
    return rc;
}

int label_list_read(struct label_list *list, const char *text, size_t size)
{
    static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                             .yajl_boolean = on_boolean,
                                             .yajl_number = on_number,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_start_map,
                                             .yajl_map_key = on_key,
                                             .yajl_end_map = on_end_map,
                                             .yajl_start_array = on_start_array,
                                             .yajl_end_array = on_end_array};
    struct reader r = {.list = list};
    yajl_handle json = yajl_alloc(&callbacks, NULL, &r);
    yajl_status status = yajl_parse(json, (const unsigned char *)text, size);

    if (status == yajl_status_ok)
        status = yajl_complete_parse(json);
    if (r.rc == 0 && status != yajl_status_ok)
        r.rc = complain(json);
    else if (r.rc == 0 && !r.has_labels)
        r.rc = err_set(ERR_USAGE, "'labels' must be an array");
    yajl_free(json);
    return r.rc;
}

void label_list_release(struct label_list *list)
{
    free(list->item);
    *list = (struct label_list){0};
}
