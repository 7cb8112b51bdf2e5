/*
 * request_head -- the head of an HTTP/1 request, its first line and its fields, as RFC 9112
 * writes them and in no other way.
 *
 * What two readers of the same bytes could take for different requests is refused, not
 * repaired: lines that end by a line feed alone, folded fields, lengths that are there twice,
 * a NUL. So whatever stands between a client and this server, both see the same requests.
 */
#ifndef SNAG_HTTP_REQUEST_HEAD_H
#define SNAG_HTTP_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_HEAD_MAX_BYTES 16384u
#define REQUEST_HEAD_MAX_ADDRESS_BYTES 8192u /* bytes of path and parameters, as they come */
#define REQUEST_HEAD_MAX_FIELDS 100u
#define REQUEST_HEAD_MAX_PARAMETERS 16u

/* Why a request is not answered as it wishes. */
struct http_refusal {
    unsigned status; /* 0: it is not refused */
    const char *why; /* constant text */
};

/* The fields that somebody looks at. */
enum request_field {
    FIELD_HOST,
    FIELD_ACCEPT,
    FIELD_ORIGIN,
    FIELD_CONTENT_LENGTH,
    FIELD_TRANSFER_ENCODING,
    FIELD_CONTENT_TYPE,
    FIELD_AUTHORIZATION,
    FIELD_COOKIE,
    FIELD_EXPECT,
    FIELD_CONNECTION,
    FIELD_IF_NONE_MATCH,
    REQUEST_FIELDS
};

/* All texts lie in the bytes that were parsed. */
struct request_head {
    const char *method; /* as it came: "GET" */
    const char *path;   /* without escapes; begins with a slash, or is "*" */
    const char *host;   /* whom it is for: of the address, else of Host; NULL: HTTP/1.0 */
    struct request_parameter {
        const char *name, *value; /* without escapes */
    } parameter[REQUEST_HEAD_MAX_PARAMETERS];
    size_t n_parameters, n_fields;
    const char *field[REQUEST_FIELDS]; /* NULL: not there; the first where there may be more */
    uint64_t body_bytes;               /* 0 when it is chunked */
    bool is_chunked;
    bool is_head;         /* the method is HEAD: the answer has no body */
    bool stays_open;      /* another request may follow */
    bool awaits_continue; /* the body comes when it was asked for */
    unsigned minor;       /* of HTTP/1.minor */
};

/*
 * request_head_length -- how long the head is that these bytes begin with.
 *   seen  in and out: how many were looked at before; 0 at first
 * Returns its length, its last empty line included; 0 when that has not come yet; SIZE_MAX when
 * a line ends as no line may. O(n - seen).
 */
size_t request_head_length(const char *bytes, size_t n, size_t *seen);

/*
 * request_head_parse -- what a complete head says.
 *   bytes  (length) changed: they hold the texts of *head
 * Returns a refusal of status 0, or one of 400, 413, 414, 417, 431, 501 and 505; of *head then
 * only is_head is of use.
 */
struct http_refusal request_head_parse(char *bytes, size_t length, struct request_head *head);

/*
 * request_head_cookie -- the value of a cookie.
 *   out  (size) out
 * Returns false when it is not there or does not fit.
 */
bool request_head_cookie(const struct request_head *head, const char *name, char *out,
                         size_t size);

#endif
