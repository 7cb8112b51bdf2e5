/*
 * The threshold of HBOS is there a share of the range of scores, which moves with the rarest
 * bin; here it is a probability. So it is checked, named, and left alone.
 */
#include "cmd/algo_file.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

static int set_algorithm(const json_t *value, struct ad_opts *opts)
{
    const char *said = json_string_value(value), *name;

    for (size_t i = 0; said && (name = call_detector_name(i)) != NULL; i++)
        if (strcasecmp(said, name) == 0) {
            opts->detector = call_detector_find(name);
            return 0;
        }
    return -1;
}

static int set_sigma(const json_t *value, struct ad_opts *opts)
{
    double sigmas = json_number_value(value);

    opts->detector_opts.sigmas = sigmas;
    return json_is_number(value) && sigmas > 0 && sigmas <= 1e6 ? 0 : -1;
}

static int check_share(const json_t *value, struct ad_opts *opts)
{
    double share = json_number_value(value);

    (void)opts;
    return json_is_number(value) && share >= 0 && share <= 1 ? 0 : -1;
}

static int check_flag(const json_t *value, struct ad_opts *opts)
{
    (void)opts;
    return json_is_boolean(value) ? 0 : -1;
}

static int check_bins(const json_t *value, struct ad_opts *opts)
{
    (void)opts;
    return json_is_integer(value) && json_integer_value(value) > 0 ? 0 : -1;
}

static const struct {
    const char *name;
    int (*set)(const json_t *value, struct ad_opts *opts);
    bool has_counterpart;
    const char *takes; /* NULL: the name of a detector of calls */
} fields[] = {
    {"algorithm", set_algorithm, true, NULL},
    {"sstd_sigma", set_sigma, true, "a number above 0, up to a million"},
    {"hbos_thres", check_share, false, "a number from 0 to 1"},
    {"glob_thres", check_flag, false, "true or false"},
    {"hbos_max_bins", check_bins, false, "a whole number above 0"},
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

/* Appends the name to words if it has no counterpart. */
static int set_field(const char *path, const char *name, const json_t *value,
                     struct ad_opts *opts, char words[128])
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (strcmp(fields[i].name, name) != 0)
            continue;
        if (fields[i].set(value, opts) != 0)
            return complain(path, name, fields[i].takes);
        if (!fields[i].has_counterpart) {
            strcat(words, *words ? ", " : "");
            strcat(words, name);
        }
        return 0;
    }
    return err_set(ERR_FORMAT, "unknown '%s' in '%s'", name, path);
}

int algo_file_read(const char *path, struct ad_opts *opts)
{
    FILE *file = fopen(path, "r");
    char words[128] = "";
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
    json_object_foreach(root, name, value) if (rc == 0) rc =
        set_field(path, name, value, opts, words);
    json_decref(root);
    if (rc == 0 && *words)
        log_warn("ad",
                 "%s of '%s' left alone: here the probability of a duration counts "
                 "(--thresholds)",
                 words, path);
    return rc;
}
