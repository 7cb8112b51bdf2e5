#include "cmd/algo_file.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

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
        rc = err_set(ERR_FORMAT, "nothing is said in '%s'", path);
    json_object_foreach(root, name, value) if (rc == 0) rc = set_field(path, name, value, said);
    json_decref(root);
    return rc;
}

static enum call_short short_of(const char *word)
{
    return word == NULL                ? CALL_SHORT_USUAL
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
