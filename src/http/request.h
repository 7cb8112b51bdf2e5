/*
 * request -- what a client asks for: the head of an HTTP/1 request, its first line and its
 * fields, as RFC 9112 writes them and in no other way; a body of a length that is not known
 * before, in chunks (RFC 9112, 7.1); and struct request, when all that every request needs was
 * checked.
 *
 * What two readers of the same bytes could take for different requests is refused, not
 * repaired: lines that end by a line feed alone, folded fields, lengths that are there twice,
 * a NUL. So whatever stands between a client and this server, both see the same requests. What
 * stands after the length of a chunk and in the trailer is left out, and bounded.
 */
#ifndef SNAG_HTTP_REQUEST_H
#define SNAG_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

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

#define CHUNKS_MAX_LINE_BYTES 256u     /* bytes that a length may have after it */
#define CHUNKS_MAX_TRAILER_BYTES 4096u /* bytes */

/* Zeroed before the first byte. */
struct chunks {
    enum {
        CHUNKS_LENGTH,
        CHUNKS_EXTENSION,
        CHUNKS_LENGTH_END,
        CHUNKS_DATA,
        CHUNKS_DATA_CR,
        CHUNKS_DATA_LF,
        CHUNKS_TRAILER,
        CHUNKS_TRAILER_LF,
        CHUNKS_DONE
    } state;
    uint64_t n_left;   /* of the data of this chunk */
    unsigned n_digits; /* of its length */
    unsigned n_line;   /* bytes of this line, or of the trailer, so far */
    bool is_empty;     /* this line of the trailer has nothing in it */
};

/*
 * chunks_take -- the data in the next bytes.
 *   bytes   (n) what has come; the data is moved to its beginning
 *   most    bytes of data that are still taken
 *   n_data  out
 * What follows the end is not looked at. Returns a refusal of status 0, 400, or 413 for more
 * than `most`. O(n).
 */
struct http_refusal chunks_take(struct chunks *chunks, char *bytes, size_t n, uint64_t most,
                                size_t *n_data);

#define REQUEST_MAX_NUMBER 9007199254740991.0 /* 2^53 - 1, as JavaScript counts */

struct request {
    bool is_post; /* GET or HEAD otherwise */
    const char *path;
    const struct request_parameter *parameter; /* [n_parameters] */
    size_t n_parameters;
    int64_t id[2];    /* the numbers in the path */
    const char *text; /* [size] of a POST: its body */
    size_t size;
    json_t *body; /* the same as an object; NULL where the handler reads the text */
    /* Nobody waits for the answer any more: for what takes long; NULL: somebody does. */
    bool (*is_unwanted)(const void *client);
    const void *client;
};

/* request_text -- a parameter, or fallback when it is missing or empty. */
const char *request_text(const struct request *request, const char *name, const char *fallback);

/*
 * request_number -- a parameter that is a number from least to most; fallback when it is
 * missing or empty. Fractions are cut; not so by request_real.
 * Returns 0 or ERR_USAGE.
 */
int request_number(const struct request *request, const char *name, double least, double most,
                   double fallback, double *out);
int request_real(const struct request *request, const char *name, double least, double most,
                 double fallback, double *out);

/*
 * request_list -- a parameter that is a list of numbers below `below`, as in 0,1,5.
 *   out  (below) out; all of them when the parameter is missing or empty
 *   n    out
 * Returns 0 or ERR_USAGE, also for a number that is there twice.
 */
int request_list(const struct request *request, const char *name, uint32_t below, uint32_t *out,
                 uint32_t *n);

#endif
