/*
 * What the words of a command come to: the run and the executions they select, the tags of a
 * run and what it is called, the detector of calls with its parameters, the store; and the
 * words themselves, to be typed again.
 *
 * Where nothing is said, the environment of CI and batch systems is asked for tags and job,
 * and the time and the process make an id.
 */
#include "cmd/settings.h"

#include "base/err.h"
#include "base/text.h"
#include "compare/run_history.h"
#include "detect/call_detector.h"
#include "postgres/pg_connection.h"
#include "prov/prov_dir.h"
#include "run/run_summary.h"
#include "run/rundir.h"
#include "view/executions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

/* -------------------------------------------------------------------- the run that is named */

/* A rank that the trace does not have is a mistake, not one without executions. */
static int check_rank(const struct run *run, uint32_t rank)
{
    const struct definitions *defs = &run->defs;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (defs->location[l].rank == rank)
            return 0;
    return err_set(ERR_NOT_FOUND, "no rank %u: the run has the ranks 0 to %u", rank,
                   defs->n_ranks - 1);
}

int selection_open(struct run *run, const struct settings *settings)
{
    int rc = run_open(run, settings->args[0], false);

    if (rc == 0 && settings->rank != NO_RANK)
        rc = check_rank(run, settings->rank);
    return rc == 0 && settings->is_verified ? columns_verify(&run->columns) : rc;
}

struct execution_filter selection_filter(const struct settings *s)
{
    return (struct execution_filter){
        .foi = settings_foi(s),
        .verdict = s->verdict,
        .rank = s->rank,
        .label = s->label,
        .most = s->is_all ? 0 : s->top,
    };
}

/* --------------------------------------------------------------------------- what was typed */

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

static void put_quoted(FILE *out, const char *word)
{
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

static void put_word(FILE *out, const char *word)
{
    if (*word && word[strspn(word, PLAIN)] == '\0')
        fputs(word, out);
    else
        put_quoted(out, word);
}

char *command_line_word(const char *word)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_open(&text, &size);

    put_quoted(out, word);
    fclose(out);
    return text;
}

/* Says by whom it is done, not what, and a run is the same whoever makes it. */
static bool is_about_processes(const char *word)
{
    return strlen(word) > 3 && strncmp(word, "--together", strlen(word)) == 0;
}

char *command_line(const struct settings *settings)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_open(&text, &size);

    fputs("snag", out);
    for (int i = 0; i < settings->n_words; i++) {
        if (is_about_processes(settings->words[i]))
            continue;
        fputc(' ', out);
        put_word(out, settings->words[i]);
    }
    fclose(out);
    return text;
}

/* ------------------------------------------------------------------------- tags and the job */

/* Of several variables for one key the first that is set counts. */
static const struct {
    const char *key, *variable;
} known[] = {
    {"commit", "GITHUB_SHA"},
    {"commit", "CI_COMMIT_SHA"},
    {"commit", "GIT_COMMIT"},
    {"commit", "BUILDKITE_COMMIT"},
    {"branch", "GITHUB_REF_NAME"},
    {"branch", "CI_COMMIT_REF_NAME"},
    {"branch", "GIT_BRANCH"},
    {"branch", "BUILDKITE_BRANCH"},
    {"build", "GITHUB_RUN_ID"},
    {"build", "CI_PIPELINE_ID"},
    {"build", "BUILD_NUMBER"},
    {"build", "BUILDKITE_BUILD_NUMBER"},
    {"job", "SLURM_JOB_ID"},
    {"job", "PBS_JOBID"},
    {"job", "LSB_JOBID"},
    {"job_name", "SLURM_JOB_NAME"},
    {"job_name", "PBS_JOBNAME"},
    {"job_name", "LSB_JOBNAME"},
    {"partition", "SLURM_JOB_PARTITION"},
    {"partition", "PBS_QUEUE"},
    {"partition", "LSB_QUEUE"},
    {"cluster", "SLURM_CLUSTER_NAME"},
    {"nodes", "SLURM_JOB_NODELIST"},
    {"nodes", "LSB_HOSTS"},
};

void tags_of_environment(struct history_tags *tags)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *value = getenv(known[i].variable);
        char cut[HISTORY_TAG_SIZE];

        if (value == NULL || *value == '\0' || history_tags_get(tags, known[i].key))
            continue;
        snprintf(cut, sizeof cut, "%s", value);
        history_tags_set(tags, known[i].key, cut);
    }
}

const char *tags_job(void)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *value = strcmp(known[i].key, "job") == 0 ? getenv(known[i].variable) : NULL;

        if (value && *value)
            return value;
    }
    return NULL;
}

static void add_new(struct history_tags *tags, const char *key, const char *value)
{
    char cut[2][HISTORY_TAG_SIZE];

    snprintf(cut[0], sizeof cut[0], "%s", key);
    snprintf(cut[1], sizeof cut[1], "%s", value);
    if (tags->n < HISTORY_TAGS / 2 && history_tags_get(tags, cut[0]) == NULL)
        history_tags_set(tags, cut[0], cut[1]);
}

int tags_of_run(sqlite3 *db, struct history_tags *tags)
{
    struct run_metadata metadata;
    char nodes[HISTORY_TAG_SIZE];
    int rc = run_metadata_load(&metadata, db);

    run_metadata_join(&metadata, METADATA_NODE, nodes, sizeof nodes);
    if (*nodes)
        add_new(tags, "nodes", nodes);
    for (size_t i = 0; rc == 0 && i < metadata.n; i++) {
        const struct run_metadatum *at = &metadata.at[i];

        if (strcmp(at->key, METADATA_NODE) != 0 && run_metadata_get(&metadata, at->key))
            add_new(tags, at->key, at->value);
    }
    run_metadata_release(&metadata);
    return rc;
}

int tags_read(const struct word_list *said, struct history_tags *tags)
{
    for (uint32_t i = 0; i < said->n; i++) {
        const char *equals = strchr(said->text[i], '=');
        char key[HISTORY_TAG_SIZE];

        if (equals == NULL || equals == said->text[i])
            return err_set(ERR_USAGE, "--tag takes KEY=VALUE, not '%s'", said->text[i]);
        if ((size_t)(equals - said->text[i]) >= sizeof key || strlen(equals) > sizeof key)
            return err_set(ERR_RANGE, "a tag has at most %u bytes", HISTORY_TAG_SIZE - 1);
        snprintf(key, sizeof key, "%.*s", (int)(equals - said->text[i]), said->text[i]);
        history_tags_set(tags, key, equals + 1);
    }
    return tags->n > HISTORY_TAGS
               ? err_set(ERR_RANGE, "a run has at most %u tags", HISTORY_TAGS)
               : 0;
}

/* -------------------------------------------------------------------------- the id of a run */

static bool is_good(const char *id)
{
    size_t n =
        strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-+@[]");

    return n > 0 && n < RUN_ID_SIZE && id[n] == '\0';
}

static void make(char text[RUN_ID_SIZE])
{
    time_t now = time(NULL);
    struct tm utc;
    size_t n = strftime(text, RUN_ID_SIZE, "%Y%m%dT%H%M%S", gmtime_r(&now, &utc));

    snprintf(text + n, RUN_ID_SIZE - n, "-%ld", (long)getpid());
}

int run_id_choose(const char **said, char text[RUN_ID_SIZE])
{
    const char *job = tags_job();

    if (*said)
        return is_good(*said) ? 0
                              : err_set(ERR_USAGE,
                                        "--run-id takes up to 64 letters, digits and "
                                        "._:-+@[], not '%s'",
                                        *said);
    make(text);
    if (job && is_good(job))
        snprintf(text, RUN_ID_SIZE, "%s", job);
    *said = text;
    return 0;
}

/* ----------------------------------------------------------------------- detectors of calls */

#define MAX_BINS 1000000

/* What a file says. */
struct said {
    const struct call_detector_ops **detector;
    struct call_detector_opts *opts;
};

static int set_algorithm(const json_t *value, struct said said)
{
    const char *text = json_string_value(value), *name;

    for (size_t i = 0; text && (name = call_detector_name(i)) != NULL; i++)
        if (strcasecmp(text, name) == 0) {
            *said.detector = call_detector_find(name);
            return 0;
        }
    return -1;
}

static int set_sigma(const json_t *value, struct said said)
{
    double sigmas = said.opts->sigmas = json_number_value(value);

    return json_is_number(value) && sigmas > 0 && sigmas <= 1e6 ? 0 : -1;
}

static int set_share(const json_t *value, struct said said)
{
    double share = said.opts->score_share = json_number_value(value);

    return json_is_number(value) && share > 0 && share <= 1 ? 0 : -1;
}

static int set_global(const json_t *value, struct said said)
{
    said.opts->is_local = json_is_false(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int set_bins(const json_t *value, struct said said)
{
    json_int_t n = json_integer_value(value);

    said.opts->most_bins = (uint32_t)n;
    return json_is_integer(value) && n > 0 && n <= MAX_BINS ? 0 : -1;
}

static const struct {
    const char *name;
    int (*set)(const json_t *value, struct said said);
    const char *takes; /* NULL: the name of a detector of calls */
} fields[] = {
    {"algorithm", set_algorithm, NULL},
    {"sstd_sigma", set_sigma, "a number above 0, up to a million"},
    {"hbos_thres", set_share, "a number above 0, up to 1"},
    {"glob_thres", set_global, "true or false"},
    {"hbos_max_bins", set_bins, "a whole number from 1 to a million"},
};

#define N_FIELDS (sizeof fields / sizeof *fields)

static int complain(const char *path, const char *name, const char *takes)
{
    char names[128] = "one of";
    size_t n = strlen(names);

    for (size_t i = 0; call_detector_name(i) && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s %s", i ? "," : "",
                              call_detector_name(i));
    return err_set(ERR_FORMAT, "'%s' in '%s' takes %s", name, path, takes ? takes : names);
}

static int set_field(const char *path, const char *name, const json_t *value, struct said said)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].set(value, said) == 0 ? 0 : complain(path, name, fields[i].takes);
    return err_set(ERR_FORMAT, "unknown '%s' in '%s'", name, path);
}

static int read_file(const char *path, struct said said)
{
    FILE *file = fopen(path, "r");
    json_error_t error;
    const char *name;
    json_t *root, *value;
    int rc = 0;

    if (file == NULL)
        return err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (root == NULL)
        return err_set(ERR_FORMAT, "no JSON in '%s': line %d: %s", path, error.line,
                       error.text);
    if (!json_is_object(root) || json_object_size(root) == 0)
        rc = err_set(ERR_FORMAT, "'%s' sets nothing", path);
    json_object_foreach(root, name, value) if (rc == 0) rc = set_field(path, name, value, said);
    json_decref(root);
    return rc;
}

static enum call_short short_of(const char *word)
{
    return word == NULL                ? CALL_SHORT_TYPICAL
           : strcmp(word, "none") == 0 ? CALL_SHORT_NONE
           : strcmp(word, "work") == 0 ? CALL_SHORT_WORK
                                       : CALL_SHORT_ALL;
}

int algo_file_settle(const struct settings *settings, const struct call_detector_ops **detector,
                     struct call_detector_opts *opts)
{
    const char *path = settings->live.algo_file;
    int rc = path ? read_file(path, (struct said){detector, opts}) : 0;

    if (settings->call_detector)
        *detector = call_detector_find(settings->call_detector);
    opts->takes_short = short_of(settings->takes_short);
    return rc;
}

/* ----------------------------------------------------------------------------------- stores */

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define MAX_STORES 1000
#define NO_STORE "none"

int store_name_free(const char *stem, const char *rest, int from, char store[FS_PATH_SIZE])
{
    for (int i = from; i < MAX_STORES; i++) {
        struct prov_dir place;
        char number[16] = "";

        if (i > 1)
            snprintf(number, sizeof number, "-%d", i);
        if (snprintf(store, FS_PATH_SIZE, "%s%s%s", stem, number, rest) >= FS_PATH_SIZE)
            return err_set(ERR_RANGE, "path too long: '%.200s...'", stem);
        if (prov_dir_parse(store, &place) == 0 && !fs_exists(place.dir))
            return 0;
    }
    return err_set(ERR_EXISTS,
                   "'%s%s' and all numbered names up to '%s-%d%s' are taken: choose a name "
                   "with --store DIRECTORY",
                   stem, rest, stem, MAX_STORES - 1, rest);
}

int store_name_said(const char **store)
{
    if (*store == NULL || strcmp(*store, NO_STORE) != 0)
        return 0;
    if (prov_dir_is_store(NO_STORE))
        return err_set(ERR_USAGE,
                       "--store %s means: keep nothing. For the store named '%s' write ./%s",
                       NO_STORE, NO_STORE, NO_STORE);
    *store = NULL;
    return 0;
}

int store_name_of(const char *source, char store[FS_PATH_SIZE])
{
    const char *colon = strchr(source, ':');
    char name[128] = "watch";
    size_t end, begin;

    if (colon == NULL || strncmp(source, "replay:", 7) == 0) {
        source = colon ? colon + 1 : source;
        for (end = strlen(source); end > 0 && source[end - 1] == '/'; end--)
            ;
        for (begin = end; begin > 0 && source[begin - 1] != '/'; begin--)
            ;
        if (strspn(source + begin, NAME_CHARACTERS) >= end - begin && end > begin)
            snprintf(name, sizeof name, "%.*s", (int)(end - begin), source + begin);
    }
    return store_name_free(name, ".store", 1, store);
}

int store_name_next(const char *url, char store[FS_PATH_SIZE])
{
    const char *query = strncmp(url, "sqlite:", 7) == 0 ? strchr(url, '?') : NULL;
    size_t n = query ? (size_t)(query - url) : strlen(url);
    char stem[FS_PATH_SIZE], rest[FS_PATH_SIZE];

    if (pg_url_is(url)) /* a database takes the runs of everybody */
        return snprintf(store, FS_PATH_SIZE, "%s", url) < FS_PATH_SIZE
                   ? 0
                   : err_set(ERR_RANGE, "URL too long: '%.200s...'", url);
    while (n > 1 && url[n - 1] == '/')
        n--;
    if (n > 6 && strncmp(url + n - 6, ".store", 6) == 0)
        n -= 6;
    snprintf(stem, sizeof stem, "%.*s", (int)n, url);
    snprintf(rest, sizeof rest, "%s", url + n + strspn(url + n, "/"));
    return store_name_free(stem, rest, 2, store);
}
