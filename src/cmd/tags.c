#include "cmd/tags.h"

#include "base/err.h"
#include "run/run_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
