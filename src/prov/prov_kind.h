/*
 * prov_kind -- what a kind of store does: one row per kind, chosen by the URL. All the rest of
 * the program knows stores by prov_store.h (to write) and prov_reader.h (to read).
 */
#ifndef SNAG_PROV_PROV_KIND_H
#define SNAG_PROV_PROV_KIND_H

#include "prov/prov_keep.h"
#include "prov/prov_writer.h"

/* A store that is written, as its kind has made it. */
struct prov_base {
    void *state;
    uint32_t n_sinks; /* one writer each */
    int64_t run;      /* all rows are of it */
};

struct prov_kind_ops {
    const char *name;
    bool (*is_mine)(const char *url); /* as far as its beginning says */
    const struct prov_sink_ops *sink_ops;

    /* Open a store for writing, or make it. Returns 0 or as prov_store_open. */
    int (*open)(const char *url, const struct prov_store_opts *opts, struct prov_base *base);

    /* The sink of writer i, which begins; it may count what it stores there. NULL: error. */
    void *(*sink)(void *state, uint32_t i, struct prov_tally *tally);

    void (*end)(void *state);   /* the writers have ended; twice is harmless */
    void (*close)(void *state); /* and the counts are known. NULL is harmless. */

    /* By how many bytes its files have grown since it was opened, until it is closed; bytes of
     * the files of a store. Of any thread. NULL: what is sent is counted (prov_tally). */
    uint64_t (*grown)(const void *state);
    uint64_t (*size)(const char *url);

    /* See prov_store_rejudge; all is stored. */
    int (*rejudge)(const struct prov_base *base, prov_judge_fn *judge, void *ctx,
                   struct prov_rejudged *counts);

    /* See prov_reader_open, prov_reader_open_run. */
    int (*read)(const char *url, int64_t run, struct database *reader);

    /* See prov_backup, prov_prune. */
    int (*backup)(const char *url, const char *dir, struct prov_backed_up *out);
    int (*prune)(const char *url, const struct prov_prune_opts *opts, struct prov_pruned *out);

    bool (*is_there)(const char *url);   /* see prov_store_is */
    int (*look)(const char *url);        /* see prov_store_look */
    bool (*is_written)(const char *url); /* see prov_store_is_written */
    void (*discard)(const char *url);    /* see prov_store_discard */
};

extern const struct prov_kind_ops prov_sqlite, prov_postgres;

/* prov_kind_of -- by an URL; a path is SQLite's. */
const struct prov_kind_ops *prov_kind_of(const char *url);

#endif
