/* arrow_consumer -- takes a stream of the Arrow C stream interface as its specification says, and trusts nothing in it.
 *
 * A library that arrow_consumer_test.py loads, built with AddressSanitizer, so that memory that is read behind its end, or
 * after its release, ends the process. All batches are held until the stream is gone; then a child is moved out of each,
 * its parent is released in another thread, and what the child has is looked at again.
 *
 * https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html: structures are copied from there.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { FLAG_NULLABLE = 2, MAX_COLUMNS = 64, MAX_BATCHES = 4096 };

/* What was found; of column i, sums of its values as unsigned 64 bits, of texts of their bytes. */
struct consumed {
    int64_t rows, batches, nulls[MAX_COLUMNS];
    uint64_t sum[MAX_COLUMNS];
    char wrong[256];
};

static bool fails(struct consumed *c, const char *what)
{
    if (c->wrong[0] == '\0')
        snprintf(c->wrong, sizeof c->wrong, "%s", what);
    return false;
}

#define NEED(condition)                                                                        \
    do {                                                                                       \
        if (!(condition))                                                                      \
            return fails(c, #condition);                                                       \
    } while (0)

/* Bytes of a value of a primitive type; 0: it is no such type. */
static unsigned width_of(const char *format)
{
    static const char widths[] = "c1C1s2S2i4I4l8L8f4g8";

    for (const char *at = widths; *at != '\0' && strlen(format) == 1; at += 2) {
        if (at[0] == format[0])
            return (unsigned)(at[1] - '0');
    }
    return 0;
}

static bool check_metadata(const char *metadata, struct consumed *c)
{
    int32_t n, length;

    if (metadata == NULL)
        return true;
    memcpy(&n, metadata, sizeof n);
    NEED(n >= 0);
    metadata += sizeof n;
    for (int32_t i = 0; i < 2 * n; i++) {
        memcpy(&length, metadata, sizeof length);
        NEED(length >= 0 &&
             strnlen(metadata + sizeof length, (size_t)length) == (size_t)length);
        metadata += sizeof length + (size_t)length;
    }
    return true;
}

static bool check_schema(const struct ArrowSchema *s, struct consumed *c)
{
    NEED(s->release != NULL && strcmp(s->format, "+s") == 0);
    NEED(s->n_children > 0 && s->n_children <= MAX_COLUMNS && s->dictionary == NULL);
    for (int64_t i = 0; i < s->n_children; i++) {
        const struct ArrowSchema *child = s->children[i];

        NEED(child->release != NULL && child->name != NULL && child->n_children == 0);
        NEED(width_of(child->format) > 0 || strcmp(child->format, "b") == 0 ||
             strcmp(child->format, "U") == 0);
        if (child->dictionary != NULL) {
            NEED(strchr("cCsSiIlL", child->format[0]) != NULL);
            NEED(strcmp(child->dictionary->format, "U") == 0 &&
                 child->dictionary->release != NULL);
        }
        if (!check_metadata(child->metadata, c))
            return false;
    }
    return true;
}

static bool is_set(const void *bits, int64_t i)
{
    return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}

static uint64_t value_at(const void *values, unsigned width, int64_t i)
{
    uint64_t value = 0;

    memcpy(&value, (const char *)values + i * width, width);
    return value;
}

/* Sums of the bytes of all texts, each of which is looked at once. */
static bool sum_texts(const struct ArrowArray *a, uint64_t *sum, struct consumed *c)
{
    const int64_t *offset = a->buffers[1];

    NEED(a->n_buffers == 3 && a->buffers[1] != NULL && offset[0] >= 0);
    for (int64_t i = 0; i < a->length; i++) {
        NEED(offset[i + 1] >= offset[i]);
        for (int64_t at = offset[i]; at < offset[i + 1]; at++)
            *sum += ((const uint8_t *)a->buffers[2])[at];
    }
    return true;
}

static bool sum_column(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t rows,
                       uint64_t *sum, int64_t *n_nulls, struct consumed *c)
{
    unsigned width = width_of(s->format);
    int64_t n = 0;

    NEED(a->release != NULL && a->length == rows && a->offset == 0 && a->n_children == 0);
    NEED((a->dictionary != NULL) == (s->dictionary != NULL));
    if (strcmp(s->format, "U") == 0)
        return sum_texts(a, sum, c);
    NEED(a->n_buffers == 2 && a->buffers[1] != NULL);
    NEED(width == 0 || (uintptr_t)a->buffers[1] % (width < 8 ? 1 : width) == 0);
    for (int64_t i = 0; i < rows; i++) {
        if (a->buffers[0] != NULL && !is_set(a->buffers[0], i)) {
            n++;
            continue;
        }
        uint64_t value =
            width == 0 ? is_set(a->buffers[1], i) : value_at(a->buffers[1], width, i);
        if (a->dictionary != NULL)
            NEED(value < (uint64_t)a->dictionary->length);
        *sum += value;
    }
    NEED(a->null_count == -1 || a->null_count == n);
    NEED(n == 0 || s->flags & FLAG_NULLABLE);
    *n_nulls += n;
    if (a->dictionary != NULL) {
        uint64_t ignored = 0;

        return sum_texts(a->dictionary, &ignored, c);
    }
    return true;
}

static bool check_batch(const struct ArrowSchema *s, const struct ArrowArray *a,
                        struct consumed *c)
{
    NEED(a->n_children == s->n_children && a->null_count == 0 && a->dictionary == NULL);
    NEED(a->n_buffers == 1 && a->buffers[0] == NULL);
    for (int64_t i = 0; i < a->n_children; i++) {
        if (!sum_column(s->children[i], a->children[i], a->length, &c->sum[i], &c->nulls[i], c))
            return false;
    }
    c->rows += a->length;
    return true;
}

static void *release_batch(void *batch)
{
    struct ArrowArray *a = batch;

    a->release(a);
    return NULL;
}

/* Moves the child with the given number out, releases the rest elsewhere, and looks at it again. */
static bool outlives(const struct ArrowSchema *s, struct ArrowArray *a, int64_t which,
                     struct consumed *c)
{
    struct ArrowArray child = *a->children[which];
    uint64_t before = 0, after = 0;
    int64_t rows = a->length, ignored = 0;
    pthread_t thread;

    a->children[which]->release = NULL;
    if (!sum_column(s->children[which], &child, rows, &before, &ignored, c))
        return false;
    NEED(pthread_create(&thread, NULL, release_batch, a) == 0);
    NEED(pthread_join(thread, NULL) == 0);
    NEED(a->release == NULL);
    if (!sum_column(s->children[which], &child, rows, &after, &ignored, c))
        return false;
    NEED(before == after);
    child.release(&child);
    NEED(child.release == NULL);
    return true;
}

static bool take_all(struct ArrowArrayStream *stream, struct ArrowArray *batches,
                     struct ArrowSchema *schema, struct consumed *c)
{
    struct ArrowSchema again;
    struct ArrowArray none;

    NEED(stream->release != NULL);
    NEED(stream->get_schema(stream, schema) == 0);
    if (!check_schema(schema, c))
        return false;
    NEED(stream->get_schema(stream, &again) == 0 && again.n_children == schema->n_children);
    again.release(&again);
    NEED(again.release == NULL);
    for (;; c->batches++) {
        NEED(c->batches < MAX_BATCHES);
        NEED(stream->get_next(stream, &batches[c->batches]) == 0);
        if (batches[c->batches].release == NULL)
            break;
        if (!check_batch(schema, &batches[c->batches], c))
            return false;
    }
    memset(&none, 0xff, sizeof none);
    NEED(stream->get_next(stream, &none) == 0 &&
         none.release == NULL); /* it stays at its end */
    stream->release(stream);
    NEED(stream->release == NULL);
    for (int64_t i = c->batches; i-- > 0;) {
        if (!outlives(schema, &batches[i], i % schema->n_children, c))
            return false;
    }
    schema->release(schema);
    NEED(schema->release == NULL);
    return true;
}

/*
 * consume_stream -- take all of a stream, and release it and all that came out of it.
 *   stream   of rows; its memory is the caller's
 *   c        out; wrong is empty if all is as the specification says
 */
void consume_stream(struct ArrowArrayStream *stream, struct consumed *c);
void consume_stream(struct ArrowArrayStream *stream, struct consumed *c)
{
    struct ArrowArray *batches = calloc(MAX_BATCHES, sizeof *batches);
    struct ArrowSchema schema;

    *c = (struct consumed){0};
    if (batches == NULL)
        fails(c, "no memory");
    else
        take_all(stream, batches, &schema, c);
    free(batches);
}
