/* Sections, see the table below, are packed one after the other and compressed as one. */
#include "learn/model_file.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/xxh.h"
#include "detect/detector.h"
#include "detect/ocsvm.h"
#include "features/features.h"
#include "features/residual.h"
#include "features/stack2vec.h"
#include "learn/learner.h"
#include "learn/reasons.h"
#include "trace/region_name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4c444f4d47414e53u /* "SNAGMODL" */
#define LEVEL 3

struct header {
    uint64_t magic;
    uint32_t version, zero;
    uint64_t n_packed, n_plain;
    uint64_t hash_low, hash_high;
};

void model_release(struct model *m)
{
    free(m->foi);
    free(m->snag);
    free(m->made);
    free(m->trace);
    free(m->detector);
    free(m->features);
    names_release(&m->regions);
    residual_release(&m->residual);
    calibration_release(&m->calibration);
    logit_release(&m->logit);
    stack2vec_release(&m->embedding);
    ocsvm_model_release(&m->svm);
    *m = (struct model){0};
}

/* ------------------------------------------------------------------------------- packing */

static int pack_state(const struct pack *p)
{
    return p->is_bad ? ERR_FORMAT : 0;
}

static void pack_about(struct pack *p, const struct model *m)
{
    pack_text(p, m->foi);
    pack_text(p, m->snag);
    pack_text(p, m->made);
    pack_text(p, m->trace);
    pack_u32(p, m->n_trees);
    pack_u32(p, m->n_abnormal);
    pack_u32(p, m->n_normal);
    pack_text(p, m->detector);
    pack_text(p, m->features);
}

static int unpack_about(struct pack *p, struct model *m)
{
    m->foi = unpack_text(p, NULL);
    m->snag = unpack_text(p, NULL);
    m->made = unpack_text(p, NULL);
    m->trace = unpack_text(p, NULL);
    m->n_trees = unpack_u32(p);
    m->n_abnormal = unpack_u32(p);
    m->n_normal = unpack_u32(p);
    m->detector = unpack_text(p, NULL);
    m->features = unpack_text(p, NULL);
    return pack_state(p);
}

static void pack_regions(struct pack *p, const struct model *m)
{
    pack_u32(p, m->regions.n);
    for (uint32_t r = 0; r < m->regions.n; r++)
        pack_text(p, m->regions.name[r]);
}

static int unpack_regions(struct pack *p, struct model *m)
{
    uint32_t n = unpack_u32(p);

    for (uint32_t r = 0; r < n && !p->is_bad; r++) {
        char *name = unpack_text(p, NULL);

        p->is_bad |= names_add(&m->regions, name) != r;
        free(name);
    }
    return pack_state(p);
}

static void pack_residual(struct pack *p, const struct model *m)
{
    residual_pack(&m->residual, p);
    calibration_pack(&m->calibration, p);
}

static int unpack_residual(struct pack *p, struct model *m)
{
    int rc = residual_unpack(&m->residual, p, m->regions.n);

    if (rc == 0)
        calibration_unpack(&m->calibration, p);
    return rc < 0 ? rc : pack_state(p);
}

static bool has_logit(const struct model *m)
{
    return m->logit.n_cols > 0;
}

static void pack_logit(struct pack *p, const struct model *m)
{
    logit_pack(&m->logit, p);
}

static int unpack_logit(struct pack *p, struct model *m)
{
    return logit_unpack(&m->logit, p);
}

static bool has_embedding(const struct model *m)
{
    return m->embedding.n_words > 0;
}

static void pack_embedding(struct pack *p, const struct model *m)
{
    stack2vec_pack(&m->embedding, p);
}

static int unpack_embedding(struct pack *p, struct model *m)
{
    return stack2vec_unpack(&m->embedding, p);
}

static bool has_svm(const struct model *m)
{
    return m->svm.support.rows > 0;
}

static void pack_svm(struct pack *p, const struct model *m)
{
    pack_f64(p, m->threshold);
    ocsvm_model_pack(&m->svm, p);
}

static int unpack_svm(struct pack *p, struct model *m)
{
    m->threshold = unpack_f64(p);
    p->is_bad |= !isfinite(m->threshold);
    return ocsvm_model_unpack(&m->svm, p);
}

/* In this order: what a section refers to comes before it. */
static const struct section {
    const char *name;
    bool (*has)(const struct model *model); /* NULL: always there */
    void (*pack)(struct pack *pack, const struct model *model);
    int (*unpack)(struct pack *pack, struct model *model);
} sections[] = {
    {"about", NULL, pack_about, unpack_about},
    {"regions", NULL, pack_regions, unpack_regions},
    {"residual", NULL, pack_residual, unpack_residual},
    {"reasons", has_logit, pack_logit, unpack_logit},
    {"stack2vec", has_embedding, pack_embedding, unpack_embedding},
    {"ocsvm", has_svm, pack_svm, unpack_svm},
};
#define N_SECTIONS (sizeof sections / sizeof *sections)

static void pack_model(struct pack *p, const struct model *m)
{
    for (size_t s = 0; s < N_SECTIONS; s++) {
        struct pack part = {0};

        if (sections[s].has && !sections[s].has(m))
            continue;
        sections[s].pack(&part, m);
        pack_text(p, sections[s].name);
        pack_array(p, part.data, part.n, 1);
        pack_release(&part);
    }
}

#define RETIRED "gp" /* of earlier versions: labels as points of a Gaussian process */

/* The section whose name comes next; N_SECTIONS, or N_SECTIONS + 1 for the retired one. */
static size_t unpack_name(struct pack *p)
{
    char *name = unpack_text(p, NULL);
    size_t s = 0;

    while (s < N_SECTIONS && strcmp(sections[s].name, name) != 0)
        s++;
    if (s == N_SECTIONS && strcmp(name, RETIRED) == 0)
        s++;
    free(name);
    return s;
}

/* All bytes of a section must be used up. */
static int unpack_section(const struct section *section, struct pack *p, struct model *m)
{
    struct pack part = {.n = unpack_count(p, 1)};
    int rc;

    part.data = unpack_array(p, part.n, 1);
    rc = section->unpack(&part, m);
    if (rc == 0 && (p->is_bad || part.is_bad || part.at != part.n))
        rc = ERR_FORMAT;
    pack_release(&part);
    return rc;
}

/* What the sections say of each other, and what the detector's learner has to have left. */
static bool fits_together(const struct model *m)
{
    const struct detector_ops *detector = detector_find(m->detector);
    const struct feature_ops *features = feature_find(m->features);
    const struct feature_input input = {
        .model = &m->residual, .embedding = (struct stack2vec *)(uintptr_t)&m->embedding};
    bool wants_svm;

    if (detector == NULL || detector->learner == NULL || features == NULL ||
        !features->is_portable || names_find(&m->regions, m->foi) == NAMES_NONE)
        return false;
    if (has_logit(m) && m->logit.n_cols != reasons_columns(&m->residual))
        return false;
    wants_svm = learner_find(detector->learner)->needs_matrix;
    if (has_svm(m) != wants_svm || has_embedding(m) != (wants_svm && features->has_embedding))
        return false;
    return !wants_svm || m->svm.support.cols == features->n_columns(&input);
}

static int unpack_model(struct pack *p, struct model *m)
{
    size_t next = 0;
    int rc = 0;

    while (rc == 0 && p->at < p->n) {
        size_t s = unpack_name(p);

        if (s > N_SECTIONS)
            return ERR_UNSUPPORTED;
        for (; next < s && next < N_SECTIONS; next++)
            if (sections[next].has == NULL)
                return ERR_FORMAT;
        rc = s == next && s < N_SECTIONS ? unpack_section(&sections[next++], p, m) : ERR_FORMAT;
    }
    for (; rc == 0 && next < N_SECTIONS; next++)
        if (sections[next].has == NULL)
            rc = ERR_FORMAT;
    return rc == 0 && !fits_together(m) ? ERR_FORMAT : rc;
}

/* --------------------------------------------------------------------------------- files */

void *model_file_bytes(const struct model *model, size_t *n)
{
    struct pack pack = {0};
    struct header header = {.magic = MAGIC, .version = MODEL_FILE_VERSION};
    size_t n_packed;
    void *packed;
    char *bytes;
    XXH128_hash_t hash;

    pack_model(&pack, model);
    packed = pack_compress(&pack, LEVEL, &n_packed);
    header.n_plain = pack.n;
    header.n_packed = n_packed;
    hash = XXH3_128bits(packed, n_packed);
    header.hash_low = hash.low64;
    header.hash_high = hash.high64;
    *n = sizeof header + n_packed;
    bytes = mem_alloc(*n, 1);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, packed, n_packed);
    free(packed);
    pack_release(&pack);
    return bytes;
}

int model_file_write(const char *path, const struct model *model)
{
    struct fs_new file;
    size_t n;
    void *bytes = model_file_bytes(model, &n);
    int rc = fs_new_open(&file, path);

    if (rc == 0)
        rc = fs_write_at(file.fd, bytes, n, 0, path);
    if (rc == 0)
        rc = fs_new_commit(&file);
    fs_new_abandon(&file);
    free(bytes);
    return rc;
}

bool model_file_is(const char *path)
{
    const uint64_t magic = MAGIC;

    return fs_begins_with(path, &magic, sizeof magic);
}

static int check(const char *path, const struct header *h, const void *packed, size_t n)
{
    XXH128_hash_t hash;

    if (n < sizeof *h || h->magic != MAGIC)
        return err_set(ERR_FORMAT,
                       "not a model: '%s' (snag model save RUN FILE makes a model of a run)",
                       path);
    if (h->version != MODEL_FILE_VERSION)
        return err_set(ERR_FORMAT, "'%s' is a model of version %u; this snag reads version %u",
                       path, h->version, MODEL_FILE_VERSION);
    hash = XXH3_128bits(packed, n - sizeof *h);
    if (h->zero != 0 || h->n_packed != n - sizeof *h || hash.low64 != h->hash_low ||
        hash.high64 != h->hash_high)
        return err_set(ERR_FORMAT, "damaged model: '%s' does not fit its checksum", path);
    return 0;
}

/* Says what is wrong, if anything. */
static int unreadable(int rc, const char *path)
{
    if (rc == ERR_UNSUPPORTED)
        return err_set(
            rc,
            "'%s' holds what an earlier snag learnt from labels, which this one cannot use: "
            "make it again from its run (snag retrain RUN, snag model save RUN FILE)",
            path);
    return rc < 0 ? err_set(ERR_FORMAT,
                            "damaged model: the contents of '%s' contradict each other", path)
                  : 0;
}

int model_file_read(const char *path, struct model *model)
{
    const void *data = NULL;
    struct header header = {0};
    struct pack pack = {0};
    size_t n = 0;
    int rc = fs_map(path, &data, &n);

    if (rc == ERR_FORMAT)
        rc = err_set(rc, "not a model: %s (snag model save RUN FILE makes a model of a run)",
                     err_message());
    *model = (struct model){0};
    if (rc < 0)
        return rc;
    if (n >= sizeof header)
        memcpy(&header, data, sizeof header);
    rc = check(path, &header, (const char *)data + sizeof header, n);
    if (rc == 0)
        rc = pack_decompress(&pack, (const char *)data + sizeof header, header.n_packed,
                             header.n_plain) < 0
                 ? unreadable(ERR_FORMAT, path)
                 : unreadable(unpack_model(&pack, model), path);
    fs_unmap(data, n);
    pack_release(&pack);
    return rc;
}

uint32_t model_foi_among(const struct model *m, const struct definitions *defs)
{
    return call_sites_same(&m->regions, m->regions.n, names_find(&m->regions, m->foi),
                           &defs->names, defs->names.n);
}

void model_adopt(struct model *m, struct definitions *defs, uint32_t *region)
{
    uint32_t *to = mem_alloc(m->regions.n, sizeof *to), n_known = defs->names.n;

    for (uint32_t r = 0; r < m->regions.n; r++) {
        uint32_t same = call_sites_same(&m->regions, m->regions.n, r, &defs->names, n_known);

        to[r] = same != NAMES_NONE ? same : definitions_region(defs, m->regions.name[r]);
    }
    residual_rename(&m->residual, to);
    *region = to[names_find(&m->regions, m->foi)];
    free(to);
}
