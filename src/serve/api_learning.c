/*
 * What a person says of executions, and what is learnt from it.
 *
 * A client's labels are read as they stand, without a tree of JSON. yajl calls back for every
 * token; the depth, and the key that was read last at each of two depths, say where it is:
 *
 *     1  in the outer object: "labels" and "author" are here
 *     2  in the array of labels
 *     3  in a label: "tree" and "label" are here
 *
 * What is deeper, or below another key, is passed over.
 */
#include "serve/api_learning.h"

#include "analysis/label_store.h"
#include "analysis/run_model.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "detect/ocsvm.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "serve/api.h"
#include "view/csv.h"
#include "view/executions.h"
#include "view/results_json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

/* ------------------------------------------------------------------ labels as they are sent */

#define MAX_DEPTH 64

enum label_key { KEY_OTHER, KEY_LABELS, KEY_AUTHOR, KEY_TREE, KEY_LABEL };

struct reader {
    struct label_list *list;
    unsigned depth;     /* open brackets */
    enum label_key key; /* of the value that comes next */
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
    *mem_push(&list->item, &list->n, &list->cap) = r->now;
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

#define MAX_CHANGES 1000 /* in an answer */
#define MAX_GAMMA 1e12

/* -------------------------------------------------------------------------- reading them */

static void id_of(sqlite3_stmt *query, char id[EXECUTION_ID_SIZE])
{
    execution_id(id, rundb_text_or_null(query, LABEL_FOI_NAME),
                 (uint32_t)sqlite3_column_int64(query, LABEL_RANK),
                 (uint32_t)sqlite3_column_int64(query, LABEL_THREAD),
                 (uint32_t)sqlite3_column_int64(query, LABEL_INDEX));
}

int api_labels(struct worker *worker, const struct request *request, struct response *response)
{
    sqlite3_stmt *query = NULL;
    json_t *labels = json_array();
    int rc = rundb_prepare(worker->db, run_sql_labels_of_trees, &query);

    (void)request;
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE];

        id_of(query, id);
        json_array_append_new(
            labels, json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "foi",
                              (json_int_t)sqlite3_column_int64(query, LABEL_FOI), "tree",
                              (json_int_t)sqlite3_column_int64(query, LABEL_TREE), "id",
                              json_text(id), "label", json_text(rundb_text(query, LABEL_TEXT)),
                              "author", json_text(rundb_text(query, LABEL_AUTHOR)), "at",
                              json_text(rundb_text(query, LABEL_AT))));
    }
    rc = rundb_close_query(worker->db, query, rc, "cannot read the labels");
    response_json(response, labels);
    return rc;
}

int api_labels_csv(struct worker *worker, const struct request *request,
                   struct response *response)
{
    sqlite3_stmt *query = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_open(&text, &size);
    int rc = rundb_prepare(worker->db, run_sql_labels_of_trees, &query);

    (void)request;
    fputs("id,label,author,at\n", out);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE];

        id_of(query, id);
        csv_text(out, id, true);
        for (int c = LABEL_TEXT; c <= LABEL_AT; c++)
            csv_text(out, rundb_text(query, c), false);
        fputc('\n', out);
    }
    rc = rundb_close_query(worker->db, query, rc, "cannot read the labels");
    fclose(out);
    response_bytes(response, "text/csv; charset=utf-8", text, size);
    response->download = "labels.csv";
    return rc;
}

int api_retrains(struct worker *worker, const struct request *request,
                 struct response *response)
{
    struct foi_state *state;
    json_t *history;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = retrain_history(worker->db, request->id[0], &history);
    return rc < 0 ? rc : response_json(response, history);
}

/* How scores are learnt when nothing else is said, and what can be chosen. */
int api_learning(struct worker *worker, const struct request *request,
                 struct response *response)
{
    struct retrain_settings as = {.id = 0}, newest = {.id = 0};
    const struct learner_ops *learner;
    const struct feature_ops *features;
    json_t *learners = json_array(), *kinds = json_array();
    struct foi_state *state;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = retrain_next(worker->db, request->id[0], &as);
    if (rc == 0)
        rc = retrain_newest(worker->db, request->id[0], &newest);
    if (rc == 0 || rc == ERR_NOT_FOUND)
        rc = retrain_features(worker->db, request->id[0], &features);
    for (size_t i = 0; learner_name(i); i++) {
        learner = learner_find(learner_name(i));
        json_array_append_new(learners, json_pack("{s:s, s:s, s:b}", "name", learner->name,
                                                  "what", learner->what, "uses_features",
                                                  (int)learner->needs_matrix));
    }
    for (size_t i = 0; feature_name(i); i++)
        json_array_append_new(kinds, json_text(feature_name(i)));
    if (rc < 0) {
        json_decref(learners);
        json_decref(kinds);
        return rc;
    }
    return response_json(
        response,
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "learner",
                  *as.learner ? as.learner : learner_name(0), "features",
                  *as.features ? as.features : features->name, "score_features", features->name,
                  "gamma", as.learnt.gamma > 0 ? json_number(as.learnt.gamma) : json_null(),
                  "nu", json_number(as.learnt.nu > 0 ? as.learnt.nu : OCSVM_NU), "retrain",
                  newest.id ? json_integer(newest.id) : json_null(), "learners", learners,
                  "feature_kinds", kinds));
}

/* What holds in the run, as snag model save writes it. */
int api_model(struct worker *worker, const struct request *request, struct response *response)
{
    struct run run = worker->served->run;
    struct ranking_opts opts = {.seed = 1, .pool = worker_pool(worker)};
    struct foi_state *state;
    struct model model = {.foi = NULL};
    uint32_t n_left_out;
    size_t n;
    void *bytes;
    int rc = worker_foi(worker, request->id[0], &state);

    run.db = worker->db;
    if (rc == 0)
        rc = run_model_make(&run, request->id[0], &opts, &model, &n_left_out);
    if (rc == 0) {
        bytes = model_file_bytes(&model, &n);
        rc = response_bytes(response, "application/octet-stream", bytes, n);
        response->download = "snag.model";
    }
    model_release(&model);
    return rc;
}

/* -------------------------------------------------------------------------- writing them */

static int read_author(const struct worker *worker, const struct request *request,
                       const char **author)
{
    const json_t *value = json_object_get(request->body, "author");

    *author = worker->served->author;
    if (value == NULL || json_is_null(value))
        return 0;
    if (!json_is_string(value) || json_string_length(value) == 0 ||
        json_string_length(value) > LABEL_LIST_MAX_AUTHOR_BYTES)
        return err_set(ERR_USAGE, "'author' takes a text of up to %d bytes",
                       LABEL_LIST_MAX_AUTHOR_BYTES);
    *author = json_string_value(value);
    return 0;
}

/* Rank, thread and number of the executions that these trees are of. */
static int find_executions(const struct foi_state *state, const struct label_list *list,
                           struct label_entry *entry)
{
    const struct execution_facts *facts = state->table->facts;

    for (size_t i = 0; i < list->n; i++) {
        int64_t tree = list->item[i].tree;

        if (tree < 0 || tree >= state->n)
            return err_set(ERR_USAGE, "no execution has the tree %lld", (long long)tree);
        entry[i] = (struct label_entry){.foi = state->foi,
                                        .rank = facts->rank[tree],
                                        .thread = facts->thread[tree],
                                        .index = facts->index[tree],
                                        .label = list->item[i].label};
    }
    return 0;
}

static int store_labels(struct worker *worker, const struct foi_state *state,
                        const struct label_list *list)
{
    struct label_entry *entry = mem_alloc(list->n, sizeof *entry);
    int rc = find_executions(state, list, entry);

    if (rc == 0 && list->n > 0) {
        rc = label_store_add(worker->db, entry, list->n,
                             *list->author ? list->author : worker->served->author);
        served_wrote(worker->served, rc);
    }
    free(entry);
    return rc;
}

int api_label(struct worker *worker, const struct request *request, struct response *response)
{
    struct label_list list = {0};
    struct foi_state *state;
    size_t n;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = label_list_read(&list, request->text, request->size);
    if (rc == 0)
        rc = store_labels(worker, state, &list);
    n = list.n;
    label_list_release(&list);
    if (rc < 0)
        return rc;
    atomic_fetch_add(&worker->served->n_labels, n);
    served_tell(worker->served, "labels",
                json_pack("{s:I}", "foi", (json_int_t)request->id[0]));
    return response_json(response, json_pack("{s:I}", "labels", (json_int_t)n));
}

/* ------------------------------------------------------------------------------ learning */

/* Counts it, tells all pages, and says what it did. */
static json_t *tell_retrain(struct worker *worker, int64_t foi, const struct ranking *ranking,
                            struct retrain_result *result)
{
    atomic_fetch_add(&worker->served->n_retrains, 1);
    served_tell(worker->served, "retrain",
                json_pack("{s:I, s:I}", "foi", (json_int_t)foi, "id", (json_int_t)result->id));
    return retrain_to_json(ranking, &worker->served->run.defs, result,
                           executions_have_several(worker->db), MAX_CHANGES);
}

/* A name of the body, if it is there, of one of a table. */
static int read_name(const json_t *body, const char *key, bool is_one(const char *name),
                     char out[32])
{
    const json_t *value = json_object_get(body, key);
    const char *name = json_string_value(value);

    if (value == NULL || json_is_null(value))
        return 0;
    if (name == NULL || !is_one(name))
        return err_set(ERR_USAGE, "no such %s", key);
    snprintf(out, 32, "%s", name);
    return 0;
}

static bool is_learner(const char *name)
{
    return learner_find(name) != NULL;
}

static bool is_features(const char *name)
{
    return feature_find(name) != NULL;
}

static int read_above(const json_t *body, const char *key, double most, double *out)
{
    const json_t *value = json_object_get(body, key);

    if (value == NULL || json_is_null(value))
        return 0;
    *out = json_number_value(value);
    if (!json_is_number(value) || !(*out > 0 && *out <= most))
        return err_set(ERR_USAGE, "'%s' takes a number above 0, up to %g", key, most);
    return 0;
}

/* What is not said is as it was. */
static int read_settings(struct worker *worker, const struct request *request,
                         struct retrain_settings *settings)
{
    int rc = read_name(request->body, "learner", is_learner, settings->learner);

    if (rc == 0)
        rc = read_name(request->body, "features", is_features, settings->features);
    if (rc == 0)
        rc = retrain_next(worker->db, request->id[0], settings);
    if (rc == 0)
        rc = read_above(request->body, "gamma", MAX_GAMMA, &settings->learnt.gamma);
    return rc < 0 ? rc : read_above(request->body, "nu", 1, &settings->learnt.nu);
}

int api_retrain(struct worker *worker, const struct request *request, struct response *response)
{
    struct retrain_settings settings = {.seed = 1};
    struct retrain_result result = {.id = 0};
    struct ranking *ranking;
    const char *author;
    int rc = read_author(worker, request, &author);

    if (rc == 0)
        rc = read_settings(worker, request, &settings);
    if (rc == 0)
        rc = worker_ranking(worker, request->id[0], &settings, &ranking);
    if (rc == 0) {
        rc = retrain_run(worker->db, ranking, author, &result);
        served_wrote(worker->served, rc);
    }
    if (rc == 0)
        response_json(response, tell_retrain(worker, request->id[0], ranking, &result));
    free(result.change);
    return rc;
}

/* id: the one that is to be undone, or 0 for the newest. */
static int undo_retrain(struct worker *worker, int64_t foi, int64_t id, json_t **done)
{
    struct retrain_settings as;
    struct retrain_result result = {.id = 0};
    struct ranking *ranking;
    int rc = retrain_to_undo(worker->db, foi, &id, &as);

    if (rc == 0)
        rc = worker_ranking(worker, foi, &as, &ranking);
    if (rc == 0) {
        rc = retrain_undo(worker->db, foi, id, ranking, &result);
        served_wrote(worker->served, rc);
    }
    if (rc == 0)
        *done = tell_retrain(worker, foi, ranking, &result);
    free(result.change);
    return rc;
}

int api_undo_retrain(struct worker *worker, const struct request *request,
                     struct response *response)
{
    struct foi_state *state;
    json_t *done;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = undo_retrain(worker, request->id[0], 0, &done);
    return rc < 0 ? rc : response_json(response, done);
}

static int redo_retrain(struct worker *worker, const struct act *act, json_t **done)
{
    struct retrain_settings as;
    struct retrain_result result = {.id = 0};
    struct ranking *ranking;
    int rc = retrain_find(worker->db, act->foi, act->retrain, &as);

    if (rc == 0)
        rc = worker_ranking(worker, act->foi, &as, &ranking);
    if (rc == 0) {
        rc = retrain_redo(worker->db, &as, ranking, &result);
        served_wrote(worker->served, rc);
    }
    if (rc == 0)
        *done = tell_retrain(worker, act->foi, ranking, &result);
    free(result.change);
    return rc;
}

static int turn_labels(struct worker *worker, const struct act *act, enum act_way way,
                       const char *author, size_t *n)
{
    int rc = undo_log_turn_labels(worker->db, act, way, author, n);

    served_wrote(worker->served, rc);
    if (rc < 0)
        return rc;
    served_tell(worker->served, "labels", json_pack("{s:I}", "foi", (json_int_t)act->foi));
    return 0;
}

/* The last thing that was done, whoever did it, or the one that was undone last. */
static int turn(struct worker *worker, const struct request *request, enum act_way way,
                struct response *response)
{
    struct foi_state *state;
    struct act act = {.id = 0};
    const char *author;
    json_t *retrained = NULL;
    size_t n = 0;
    int rc = read_author(worker, request, &author);

    if (rc == 0)
        rc = worker_foi(worker, request->id[0], &state);
    if (rc == 0)
        rc = undo_log_next(worker->db, request->id[0], way, &act);
    if (rc == 0 && act.retrain == 0)
        rc = turn_labels(worker, &act, way, author, &n);
    else if (rc == 0)
        rc = way == ACT_UNDO ? undo_retrain(worker, act.foi, act.retrain, &retrained)
                             : redo_retrain(worker, &act, &retrained);
    return rc < 0 ? rc
                  : response_json(response, json_pack("{s:s, s:I, s:o}", "kind",
                                                      act.retrain ? "retrain" : "labels",
                                                      "labels", (json_int_t)n, "retrain",
                                                      retrained ? retrained : json_null()));
}

int api_undo(struct worker *worker, const struct request *request, struct response *response)
{
    return turn(worker, request, ACT_UNDO, response);
}

int api_redo(struct worker *worker, const struct request *request, struct response *response)
{
    return turn(worker, request, ACT_REDO, response);
}
