/*
 * answer -- a response as it is sent, with the headers that all have; and the answers that are
 * kept, so that what many readers ask is computed once.
 */
#ifndef SNAG_HTTP_ANSWER_H
#define SNAG_HTTP_ANSWER_H

#include "http/reply.h"
#include "http/request.h"
#include "http/response.h"

#include <stdbool.h>
#include <stddef.h>

#define ANSWER_KEY_SIZE 512
#define MAX_ANSWERS 128
#define ANSWERS_MAX_BYTES (64u << 20)

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
struct answers {
    struct {
        char key[ANSWER_KEY_SIZE];
        struct answer answer;
    } * kept; /* [n] */
    size_t n, bytes;
};

/* answer_key -- path and parameters. Returns false when it is too long to be kept. */
bool answer_key(const struct request *request, char key[ANSWER_KEY_SIZE]);

/* answers_find -- the answer kept under this key, or NULL. */
const struct answer *answers_find(const struct answers *answers, const char *key);

/* answers_keep -- take an answer over. Returns where it is until the next call. */
const struct answer *answers_keep(struct answers *answers, const char *key,
                                  struct answer *answer);

/* answers_clear -- none of them holds any more. */
void answers_clear(struct answers *answers);

#endif
