/*
 * What a client sends: heads and bodies in chunks, one after another, in pieces of any size.
 * Whatever is taken is the same however it comes, and is text without zeros, control characters
 * or more than one meaning.
 */
#include "fuzz.h"

#include "http/request.h"

#include <stdlib.h>
#include <string.h>

static void check_text(const char *text, const char *begin, const char *end)
{
    if (text == NULL)
        return;
    if (text < begin || text >= end)
        abort();
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            abort();
}

static void check_head(const struct request_head *head, const char *begin, const char *end)
{
    const char *length = head->field[FIELD_CONTENT_LENGTH];
    char cookie[16];

    if (head->path[0] != '/' && strcmp(head->path, "*") != 0)
        abort();
    if (head->minor > 0 && head->field[FIELD_HOST] == NULL)
        abort();
    if (length && (head->is_chunked || strlen(length) > 18 ||
                   strtoull(length, NULL, 10) != head->body_bytes))
        abort();
    if (head->n_parameters > REQUEST_HEAD_MAX_PARAMETERS ||
        head->n_fields > REQUEST_HEAD_MAX_FIELDS)
        abort();
    check_text(head->method, begin, end);
    check_text(head->host, begin, end);
    for (int i = 0; i < REQUEST_FIELDS; i++)
        check_text(head->field[i], begin, end);
    for (size_t i = 0; i < head->n_parameters; i++)
        if (head->parameter[i].name < begin ||
            head->parameter[i].name + strlen(head->parameter[i].name) >= end)
            abort();
    request_head_cookie(head, "a", cookie, sizeof cookie);
}

/* All at once is as byte by byte. Returns the length of the head, 0 for none. */
static size_t find_head(const char *bytes, size_t n)
{
    size_t seen = 0, seen_by_byte = 0, by_byte = 0;
    size_t length = request_head_length(bytes, n, &seen);

    for (size_t i = 0; i <= n && by_byte == 0; i++)
        by_byte = request_head_length(bytes, i, &seen_by_byte);
    if (by_byte != length)
        abort();
    return length == SIZE_MAX ? 0 : length;
}

/* The bytes from `at` on in pieces: the data that comes out, where it ends, and how. */
static size_t decode(const uint8_t *data, size_t n, size_t piece, char *out, unsigned *how)
{
    struct chunks chunks = {0};
    size_t n_out = 0, n_data;

    *how = 0;
    for (size_t at = 0; at < n && *how == 0; at += piece) {
        size_t length = n - at < piece ? n - at : piece;

        memcpy(out + n_out, data + at, length);
        *how = chunks_take(&chunks, out + n_out, length, n - n_out, &n_data).status;
        n_out += *how == 0 ? n_data : 0;
    }
    if (*how == 0)
        *how = chunks.state == CHUNKS_DONE;
    return n_out;
}

static void check_chunks(const uint8_t *data, size_t n)
{
    char *whole = malloc(n + 1), *pieces = malloc(n + 1);
    unsigned how, how_pieces;
    size_t n_whole = decode(data, n, n + 1, whole, &how);

    for (size_t piece = 1; piece < 8; piece += 3) {
        size_t n_pieces = decode(data, n, piece, pieces, &how_pieces);

        if (how != how_pieces ||
            (how <= 1 && (n_whole != n_pieces || memcmp(whole, pieces, n_whole) != 0)))
            abort();
    }
    free(whole);
    free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);
    size_t at = 0, length;

    memcpy(bytes, data, size);
    while ((length = find_head(bytes + at, size - at)) > 0) {
        struct request_head head;

        if (request_head_parse(bytes + at, length, &head).status)
            break;
        check_head(&head, bytes + at, bytes + at + length);
        at += length;
        if (head.is_chunked)
            break;
    }
    check_chunks(data + at, size - at);
    check_chunks(data, size);
    free(bytes);
    return 0;
}
