#include "live/hosts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <strings.h>

void hosts_init(struct hosts *hosts, const char *usual)
{
    *hosts = (struct hosts){0};
    names_add(&hosts->name, usual ? usual : "");
}

void hosts_release(struct hosts *hosts)
{
    names_release(&hosts->name);
    free(hosts->of_group);
    *hosts = (struct hosts){0};
}

static void set_host(struct hosts *hosts, uint32_t group, const char *name)
{
    mem_grow(&hosts->of_group, &hosts->cap, group + 1, sizeof *hosts->of_group);
    while (hosts->n_groups <= group)
        hosts->of_group[hosts->n_groups++] = 0;
    hosts->of_group[group] = names_add(&hosts->name, name);
}

void hosts_step(struct hosts *hosts, struct histories *h, const struct definitions *defs,
                struct prov_store *store)
{
    for (; hosts->n_metadata < defs->n_metadata; hosts->n_metadata++) {
        const struct metadata *m = &defs->metadata[hosts->n_metadata];

        if (strcasecmp(m->key, "hostname") == 0)
            set_host(hosts, histories_group(h, m->program, m->rank), m->value);
        prov_store_put_metadata(store, &(struct prov_metadata){.program = m->program,
                                                               .rank = m->rank,
                                                               .thread = m->thread,
                                                               .descr = m->key,
                                                               .value = m->value});
    }
}

uint32_t hosts_of(const struct hosts *hosts, uint32_t group)
{
    return group < hosts->n_groups ? hosts->of_group[group] : 0;
}
