/* The same steps as snag analyze and snag serve take, with asserts for errors. */
#include "sample_page.h"

#include "analysis/run_maker.h"
#include "base/err.h"
#include "base/fs.h"

#include "test.h"
#include "test_dir.h"

static void make_run(const char *path, const char *program, const char *foi)
{
    struct pool *pool = pool_new(1);
    struct rundir dir = {.path = ""};
    struct source source = {.path = NULL};
    struct ingested ingested = {.n_locations = 0};
    struct ingest_opts reading = {.dir = dir.part, .pool = pool};
    struct run_maker_opts opts = {
        .foi = &foi, .n_foi = 1, .analysis = {.threshold = NAN, .seed = 1, .pool = pool}};
    struct run_made made;

    assert_int_equal(source_open(&source, program), 0);
    assert_int_equal(rundir_begin(&dir, path, false), 0);
    assert_int_equal(ingest(&source, &reading, &ingested), 0);
    assert_int_equal(run_make(&dir, &source, &ingested, &opts, &made), 0);
    ingested_release(&ingested);
    source_close(&source);
    pool_free(pool);
}

void sample_page_init(struct sample_page *p, const char *program, const char *foi)
{
    char path[64];
    const struct served_opts opts = {
        .path = path, .snag = "0.test", .author = "somebody", .n_threads = 1};

    *p = (struct sample_page){.dir = "/tmp/snag-run-XXXXXX"};
    assert_non_null(test_dir(p->dir));
    snprintf(path, sizeof path, "%s/a.snag", p->dir);
    make_run(path, program, foi);
    assert_int_equal(served_open(&p->served, &opts), 0);
    assert_int_equal(worker_open(&p->worker, &p->served, true), 0);
}

static void forget_answer(struct sample_page *p)
{
    response_release(&p->response);
    json_decref(p->json);
    p->response = (struct response){0};
    p->json = NULL;
}

void sample_page_release(struct sample_page *p)
{
    forget_answer(p);
    if (p->served.has_projected)
        pthread_join(p->served.projecting, NULL);
    worker_close(&p->worker);
    served_close(&p->served);
    fs_remove_tree(p->dir);
}

int sample_page_begin(void **state, const char *program, const char *foi)
{
    struct sample_page *p = calloc(1, sizeof *p);

    sample_page_init(p, program, foi);
    *state = p;
    return 0;
}

int sample_page_end(void **state)
{
    sample_page_release(*state);
    free(*state);
    return 0;
}

/* -------------------------------------------------------------------------------- asking */

/* As a thread of the server does, once the request is there. */
static int ask(struct sample_page *p, struct request *request)
{
    const struct route *route = route_find(request);
    int rc;

    assert_non_null(route);
    forget_answer(p);
    worker_refresh(&p->worker);
    rc = route_answer(route, &p->worker, request, &p->response);
    if (request->is_post)
        worker_forget(&p->worker);
    if (rc == 0 && p->response.body)
        p->json = json_loadb(p->response.body, p->response.size, JSON_ALLOW_NUL, NULL);
    return rc;
}

static void parse(const char *path, char *bytes, size_t size, struct request_head *head,
                  struct request *request)
{
    int n = snprintf(bytes, size, "GET /api/v1%s HTTP/1.1\r\nHost: x\r\n\r\n", path);

    assert_true(n > 0 && (size_t)n < size);
    assert_int_equal(request_head_parse(bytes, (size_t)n, head).status, 0);
    request->path = head->path;
    request->parameter = head->parameter;
    request->n_parameters = head->n_parameters;
}

int sample_page_get(struct sample_page *p, const char *path)
{
    struct request request = {.is_post = false};
    struct request_head head;
    char bytes[1024];

    parse(path, bytes, sizeof bytes, &head, &request);
    return ask(p, &request);
}

int sample_page_post(struct sample_page *p, const char *path, const char *body)
{
    struct request request = {.is_post = true, .text = body, .size = strlen(body)};
    struct request_head head;
    char bytes[1024];
    int rc;

    parse(path, bytes, sizeof bytes, &head, &request);
    request.body = json_loads(body, 0, NULL);
    rc = ask(p, &request);
    json_decref(request.body);
    return rc;
}

void sample_page_ok(struct sample_page *p, const char *path)
{
    assert_int_equal(sample_page_get(p, path), 0);
}

void sample_page_refused(struct sample_page *p, const char *path, int rc, const char *why)
{
    assert_int_equal(sample_page_get(p, path), rc);
    assert_string_equal(err_message(), why);
}

/* ------------------------------------------------------------------------------- answers */

int64_t sample_page_number(const json_t *object, const char *field)
{
    assert_true(json_is_number(json_object_get(object, field)));
    return (int64_t)json_number_value(json_object_get(object, field));
}

int64_t sample_page_region(const struct sample_page *p, const char *name)
{
    uint32_t found = names_find(&p->served.run.defs.names, name);

    assert_int_not_equal(found, NAMES_NONE);
    return found;
}

void sample_page_is(const struct sample_page *p, const char *expected)
{
    json_t *json = json_loads(expected, 0, NULL);

    assert_non_null(json);
    if (!json_equal(p->json, json)) {
        char *is = json_dumps(p->json, JSON_COMPACT);

        print_error("%s\nis not\n%s\n", is ? is : "what is not JSON", expected);
        free(is);
        assert_true(false);
    }
    json_decref(json);
}

/* All of the bytes of an answer, wherever they lie. */
static char *bytes_of(const struct response *r)
{
    char *bytes = malloc(r->size + 1), *at = bytes;

    if (r->parts == NULL) {
        memcpy(bytes, r->body, r->size);
        return bytes;
    }
    for (size_t i = 0; i < r->parts->n; i++) {
        memcpy(at, r->parts->part[i].data, r->parts->part[i].size);
        at += r->parts->part[i].size;
    }
    return bytes;
}

static size_t width_of(const char *type)
{
    return (size_t)atoi(type + 1) / 8; /* "f64" */
}

void *sample_page_column(const struct sample_page *p, const char *name, const char *type,
                         size_t n)
{
    char *bytes = bytes_of(&p->response), *column = NULL;
    json_t *header;
    const json_t *item;
    uint32_t length;
    size_t i;

    assert_string_equal(p->response.type, BUNDLE_TYPE);
    assert_memory_equal(bytes, "SNGC", 4);
    memcpy(&length, bytes + 4, sizeof length);
    header = json_loadb(bytes + 8, length, 0, NULL);
    assert_non_null(header);
    json_array_foreach(json_object_get(header, "columns"), i, item)
    {
        size_t offset = (size_t)json_integer_value(json_object_get(item, "offset"));

        if (strcmp(json_string_value(json_object_get(item, "name")), name) != 0)
            continue;
        assert_string_equal(json_string_value(json_object_get(item, "type")), type);
        assert_int_equal(json_integer_value(json_object_get(item, "n")), n);
        column = malloc(n * width_of(type) + 1);
        memcpy(column, bytes + 8 + length + offset, n * width_of(type));
    }
    assert_non_null(column);
    json_decref(header);
    free(bytes);
    return column;
}
