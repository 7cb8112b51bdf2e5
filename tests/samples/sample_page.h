/*
 * sample_page -- a small run that is served, without the server: routes are asked directly, in
 * the thread of the test.
 */
#ifndef SNAG_TESTS_SAMPLE_PAGE_H
#define SNAG_TESTS_SAMPLE_PAGE_H

#include "serve/routes.h"

struct sample_page {
    char dir[32]; /* the run is in it */
    struct served served;
    struct worker worker;
    struct response response; /* the last one */
    json_t *json;             /* its body, or NULL where that is not JSON */
};

/* sample_page_init -- serve a trace said in one line, analysed for this function. */
void sample_page_init(struct sample_page *p, const char *program, const char *foi);
void sample_page_release(struct sample_page *p);

/* sample_page_begin, sample_page_end -- the same for a test of cmocka, whose state it is. */
int sample_page_begin(void **state, const char *program, const char *foi);
int sample_page_end(void **state);

/*
 * sample_page_get, sample_page_post -- ask a route, as in "/labels" or "/search?q=a".
 *   body  JSON
 * Returns what the handler does, 0 or an ERR_*; p->response and p->json until the next one.
 */
int sample_page_get(struct sample_page *p, const char *path);
int sample_page_post(struct sample_page *p, const char *path, const char *body);

/* sample_page_ok, sample_page_refused -- get, and it is answered, or refused for this reason.
 */
void sample_page_ok(struct sample_page *p, const char *path);
void sample_page_refused(struct sample_page *p, const char *path, int rc, const char *why);

/* sample_page_number -- a field that is there and a number, without what follows the point. */
int64_t sample_page_number(const json_t *object, const char *field);

/* sample_page_region -- the number of a region by its name, which the run has. */
int64_t sample_page_region(const struct sample_page *p, const char *name);

/* sample_page_is -- the JSON of the last answer is this, whatever the order of its fields. */
void sample_page_is(const struct sample_page *p, const char *expected);

/*
 * sample_page_column -- a column of the last answer, which is a bundle.
 *   type, n  what its header must say of it
 * Returns its bytes, to be freed.
 */
void *sample_page_column(const struct sample_page *p, const char *name, const char *type,
                         size_t n);

#endif
