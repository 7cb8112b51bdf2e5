/*
 * response -- what a client is answered: a status, bytes and what they are; with the headers
 * that all answers have, as it is sent; and the answers that are kept, so that what many
 * readers ask is computed once.
 *
 * Bytes may be a bundle, columns of numbers with a JSON header that says what they are:
 *
 *     "SNGC" | length of the header u32 | header, padded with spaces | data
 *
 * Little-endian; header and columns begin at multiples of 8. The header is an object whose
 * "columns" are {"name", "type", "n", "offset"}, offset from the start of the data; the types
 * are those of JavaScript's typed arrays: u8 i8 u16 u32 f32 f64.
 *
 * A reply that is kept is sent to any number of clients; each that uses it holds it. It
 * belongs to one thread.
 */
#ifndef SNAG_HTTP_RESPONSE_H
#define SNAG_HTTP_RESPONSE_H

#include "http/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <jansson.h>

#define BUNDLE_TYPE "application/vnd.snag.columns"
#define BUNDLE_MAX_COLUMNS 32
#define BUNDLE_MAX_PARTS (2 * BUNDLE_MAX_COLUMNS + 1)

enum bundle_type { BUNDLE_U8, BUNDLE_I8, BUNDLE_U16, BUNDLE_U32, BUNDLE_F32, BUNDLE_F64 };

struct bundle {
    struct {
        char name[24];
        enum bundle_type type;
        const void *data;
        size_t n;
        void *own; /* the data, where they are its own */
    } column[BUNDLE_MAX_COLUMNS];
    size_t n_columns;
    json_t *header; /* further fields, or NULL */
};

/* bundle_add -- one more column; data must stay until bundle_bytes. */
void bundle_add(struct bundle *bundle, const char *name, enum bundle_type type,
                const void *data, size_t n);

/* A member of a struct, as a column of a bundle: see BUNDLE_FIELD. */
struct bundle_field {
    const char *name;
    enum bundle_type type;
    size_t at;
    enum bundle_member { MEMBER_U8, MEMBER_U32, MEMBER_U64, MEMBER_F32, MEMBER_F64 } member;
};
#define BUNDLE_FIELD(name, type, of, from)                                                     \
    {                                                                                          \
        name, type, offsetof(of, from),                                                        \
            _Generic(((of *)NULL)->from, uint8_t                                               \
                     : MEMBER_U8, uint32_t                                                     \
                     : MEMBER_U32, uint64_t                                                    \
                     : MEMBER_U64, float                                                       \
                     : MEMBER_F32, double                                                      \
                     : MEMBER_F64)                                                             \
    }

/*
 * bundle_gather -- a column for each of some members of structs that lie one after another;
 * the numbers are copied.
 *   row    (n structs of `width` bytes)
 *   field  (n_fields) BUNDLE_FIELDs of that struct; types are BUNDLE_U8, U32, F32 or F64
 */
void bundle_gather(struct bundle *bundle, const struct bundle_field *field, size_t n_fields,
                   const void *row, size_t n, size_t width);

/* bundle_say -- one more field of the header; takes the value over. */
void bundle_say(struct bundle *bundle, const char *name, json_t *value);

/* bundle_bytes -- all of it; the bundle is empty afterwards. Free with free(). */
void *bundle_bytes(struct bundle *bundle, size_t *size);

/* Bytes that follow each other. */
struct bundle_part {
    const void *data;
    size_t size;
};

/* bundle_release -- instead of bundle_bytes. */
void bundle_release(struct bundle *bundle);

/* A body whose bytes are somebody's, in pieces: nothing is copied. */
struct response_parts {
    struct bundle_part part[BUNDLE_MAX_PARTS]; /* [n] the data of the first is its own */
    size_t n;
    size_t held; /* bytes that are there for its sake only */
    void (*release)(void *owner);
    void *owner; /* of the rest, until release is called, from any thread */
};

struct response {
    unsigned status;  /* of HTTP */
    const char *type; /* constant text */
    void *body;       /* [size] its own, or constant when is_constant */
    size_t size;
    bool is_constant;
    struct response_parts *parts; /* instead of body, of `size` bytes; or NULL */
    char etag[40];                /* quoted, where there is a cheaper one than a hash; or "" */
    const char *download;         /* name of the file it is to be kept as, or NULL */
    const char *allow;            /* with status 405 */
};

void response_release(struct response *response);

/* response_held -- how many bytes are freed with it. */
size_t response_held(const struct response *response);

/* response_json -- status 200 and this value, which is taken over; 500 for NULL. Returns 0. */
int response_json(struct response *response, json_t *json);

/* response_bundle -- status 200 and these columns; the bundle is empty afterwards. Returns 0.
 */
int response_bundle(struct response *response, struct bundle *bundle);

/*
 * response_parts -- the same without copying the columns.
 *   held            bytes of theirs that are there for this response only
 *   release, owner  called with it when the response is no longer needed
 */
int response_parts(struct response *response, struct bundle *bundle, size_t held,
                   void (*release)(void *owner), void *owner);

/* response_bytes -- status 200 and bytes from malloc, which are taken over. Returns 0. */
int response_bytes(struct response *response, const char *type, void *body, size_t size);

/*
 * response_problem -- an error as RFC 9457 has it.
 *   detail    what went wrong, for people
 *   instance  the path that was asked for
 */
void response_problem(struct response *response, unsigned status, const char *detail,
                      const char *instance);

/* response_status_of -- the status for an ERR_*. */
unsigned response_status_of(int rc);

#define REPLY_MAX_PARTS 72

struct reply {
    unsigned n_users;
    char *head; /* [n_head] the status line and the fields, without the empty line */
    size_t n_head, head_cap;
    struct iovec part[REPLY_MAX_PARTS]; /* [n_parts] the body */
    size_t n_parts;
    uint64_t body_bytes;
    size_t held;        /* bytes of memory that are there for its sake; its maker says */
    unsigned n_waiting; /* connections that cannot send it for now */
    void (*release)(void *owner); /* of the parts; NULL: they are constant */
    void *owner;
};

/* reply_new -- without a body, and for its maker, who drops it. title: "Not Found". */
struct reply *reply_new(unsigned status, const char *title);

/* reply_field -- one more field of the head. */
void reply_field(struct reply *reply, const char *name, const char *value);

/* reply_part -- size more bytes of the body, which stay until it is released. */
void reply_part(struct reply *reply, const void *data, size_t size);

/* reply_hold, reply_drop -- one user more, one less: the last one frees it. NULL is dropped
 * without harm. */
struct reply *reply_hold(struct reply *reply);
void reply_drop(struct reply *reply);

#define ANSWER_KEY_SIZE 512
#define MAX_KEPT_ANSWERS 128
#define KEPT_ANSWERS_MAX_BYTES (64u << 20)

/* One that can be sent any number of times. */
struct answer {
    unsigned status;
    char etag[40];      /* quoted; "" for none */
    struct reply *full; /* with the body */
    size_t held;        /* bytes that are there for its sake */
};

/*
 * answer_of -- take a response over.
 *   etag  quoted, of content that does not change; NULL: a hash of the body is made, for status
 *         200
 */
struct answer answer_of(struct response *response, const char *etag);
void answer_release(struct answer *answer);

/* answer_unchanged -- an empty reply with this ETag, for status 304. */
struct reply *answer_unchanged(const char *etag);

/* answer_stream -- the beginning of an answer of this type that has no end. */
struct reply *answer_stream(const char *type);

/* Those of one thread that hold until the database changes. */
struct kept_answers {
    struct {
        char key[ANSWER_KEY_SIZE];
        struct answer answer;
    } * kept; /* [n] */
    size_t n, bytes;
};

/* answer_key -- path and parameters; no two requests that differ in these have the same. Returns false when it is too
 * long to be kept. */
bool answer_key(const struct request *request, char key[ANSWER_KEY_SIZE]);

/* kept_answers_find -- the answer kept under this key, or NULL. */
const struct answer *kept_answers_find(const struct kept_answers *answers, const char *key);

/* kept_answers_keep -- take an answer over. Returns where it is until the next call. */
const struct answer *kept_answers_keep(struct kept_answers *answers, const char *key,
                                       struct answer *answer);

/* kept_answers_clear -- none of them holds any more. */
void kept_answers_clear(struct kept_answers *answers);

#endif
