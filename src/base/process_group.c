/*
 * The first thing that is exchanged is which build this is, as text of a fixed size: this must
 * not change, so that any two builds can tell that they are not the same. A build is told by
 * the number that the linker makes of what it links.
 */
#include "base/process_group.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/process_group_transport.h"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUILD_SIZE 64
#define HOST_SIZE 65
#define MESSAGE_SIZE 4096

/* What each process says of itself. */
struct member {
    char host[HOST_SIZE];
    uint64_t task;
    cpu_set_t processors; /* it may run on */
};

struct process_group {
    const struct process_group_transport *transport;
    unsigned size, me;
    struct member *member; /* [size] */
    struct process_group_tally tally;
};

/* ---------------------------------------------------------------------------------- build */

/* Keeps the note of the program itself, which comes first. */
static int keep_build(struct dl_phdr_info *info, size_t size, void *ctx)
{
    char *text = ctx;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + (segment->p_type == PT_NOTE ? segment->p_memsz : 0);

        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
            const char *name = at + sizeof *note;
            const unsigned char *id =
                (const unsigned char *)name + (note->n_namesz + 3) / 4 * 4;

            if (note->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0)
                for (unsigned k = 0; k < note->n_descsz && 2 * k + 3 < BUILD_SIZE; k++)
                    snprintf(text + 2 * k, 3, "%02x", id[k]);
            at = (const char *)id + (note->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

/* ------------------------------------------------------------------------------- messages */

void process_group_send(struct process_group *process_group, unsigned to, const void *data,
                        size_t bytes)
{
    if (bytes == 0)
        return;
    process_group->tally.n_sent++;
    process_group->tally.sent_bytes += bytes;
    process_group->transport->send(to, data, bytes);
}

void process_group_receive(struct process_group *process_group, unsigned from, void *data,
                           size_t bytes)
{
    if (bytes > 0)
        process_group->transport->receive(from, data, bytes);
}

void process_group_send_pack(struct process_group *process_group, unsigned to,
                             const struct pack *pack)
{
    uint64_t n = pack->n;

    process_group_send(process_group, to, &n, sizeof n);
    process_group_send(process_group, to, pack->data, pack->n);
}

void process_group_receive_pack(struct process_group *process_group, unsigned from,
                                struct pack *pack)
{
    uint64_t n;

    *pack = (struct pack){0};
    process_group_receive(process_group, from, &n, sizeof n);
    pack->n = n;
    pack->data = mem_alloc(n, 1);
    process_group_receive(process_group, from, pack->data, n);
}

void process_group_swap(struct process_group *process_group, unsigned with, const void *out,
                        size_t out_bytes, void *in, size_t in_bytes)
{
    if (process_group->me < with)
        process_group_send(process_group, with, out, out_bytes);
    process_group_receive(process_group, with, in, in_bytes);
    if (process_group->me > with)
        process_group_send(process_group, with, out, out_bytes);
}

/* Numbers of partners add up to the round's, so both say the same. */
unsigned process_group_partner(const struct process_group *process_group, unsigned round)
{
    return (round + process_group->size - process_group->me) % process_group->size;
}

/* Along a tree: process p has it from the one whose number lacks the highest bit of p. */
void process_group_broadcast(struct process_group *process_group, void *data, size_t bytes)
{
    unsigned bit = 1;

    if (process_group == NULL)
        return;
    while (bit <= process_group->me / 2)
        bit *= 2;
    if (process_group->me > 0) {
        process_group_receive(process_group, process_group->me - bit, data, bytes);
        bit *= 2;
    }
    for (; process_group->me + bit < process_group->size; bit *= 2)
        process_group_send(process_group, process_group->me + bit, data, bytes);
}

void process_group_broadcast_pack(struct process_group *process_group, struct pack *pack)
{
    uint64_t n = pack->n;

    process_group_broadcast(process_group, &n, sizeof n);
    if (process_group->me > 0)
        *pack = (struct pack){.data = mem_alloc(n, 1), .n = n};
    process_group_broadcast(process_group, pack->data, n);
}

/* ------------------------------------------------------------------------------ agreement */

struct agreed_result {
    int32_t rc;
    char message[MESSAGE_SIZE];
};

int process_group_blame(unsigned process, unsigned size, const char *host, int rc,
                        const char *message)
{
    return err_set(rc, "process %u of %u (%s): %s", process, size, host, message);
}

static void blame(const struct process_group *process_group, unsigned process,
                  const struct agreed_result *verdict)
{
    process_group_blame(process, process_group->size,
                        process_group_host(process_group, process), verdict->rc,
                        verdict->message);
}

int process_group_agree(struct process_group *process_group, int rc)
{
    struct agreed_result verdict = {.rc = rc};

    if (process_group == NULL)
        return rc;
    if (rc < 0)
        snprintf(verdict.message, sizeof verdict.message, "%s", err_message());
    if (process_group->me > 0) {
        size_t bytes = rc < 0 ? sizeof verdict.message : 0;

        process_group_send(process_group, 0, &verdict.rc, sizeof verdict.rc);
        process_group_send(process_group, 0, verdict.message, bytes);
    }
    if (process_group->me == 0 && rc < 0)
        blame(process_group, 0, &verdict);
    for (unsigned p = 1; process_group->me == 0 && p < process_group->size; p++) {
        struct agreed_result other = {0};

        process_group_receive(process_group, p, &other.rc, sizeof other.rc);
        if (other.rc < 0)
            process_group_receive(process_group, p, other.message, sizeof other.message);
        if (other.rc < 0 && verdict.rc == 0) {
            verdict.rc = other.rc;
            blame(process_group, p, &other);
        }
    }
    process_group_broadcast(process_group, &verdict.rc, sizeof verdict.rc);
    return verdict.rc;
}

/* -------------------------------------------------------------------------------- joining */

/* Number 0 has everybody's, in their order; the others their own. */
static void gather(struct process_group *process_group, void *all, const void *own, size_t size)
{
    if (process_group->me > 0) {
        process_group_send(process_group, 0, own, size);
        return;
    }
    memcpy(all, own, size);
    for (unsigned p = 1; p < process_group->size; p++)
        process_group_receive(process_group, p, (char *)all + p * size, size);
}

/* What all must have alike is compared with what number 0 has. */
static int check_build(struct process_group *process_group)
{
    char own[BUILD_SIZE] = "";
    char(*all)[BUILD_SIZE] = mem_alloc(process_group->size, sizeof *all);
    unsigned odd = 0;

    dl_iterate_phdr(keep_build, own);
    gather(process_group, all, own, sizeof own);
    for (unsigned p = process_group->size; process_group->me == 0 && p-- > 1;)
        if (memcmp(all[p], own, sizeof own) != 0)
            odd = p;
    if (odd > 0)
        err_set(ERR_USAGE,
                "process %u of %u runs another build of snag (%.16s) than process 0 "
                "(%.16s)",
                odd, process_group->size, all[odd], own);
    process_group_broadcast(process_group, &odd, sizeof odd);
    free(all);
    return odd > 0 ? ERR_USAGE : 0;
}

static int check_task(struct process_group *process_group)
{
    unsigned odd = 0;

    for (unsigned p = process_group->size; p-- > 1;)
        if (process_group->member[p].task != process_group->member[0].task)
            odd = p;
    if (odd > 0)
        return err_set(ERR_USAGE,
                       "process %u of %u (%s) has other arguments than process 0: all "
                       "processes need the same",
                       odd, process_group->size, process_group_host(process_group, odd));
    return 0;
}

static int introduce(struct process_group *process_group, uint64_t task)
{
    struct member own = {.task = task};
    int rc = check_build(process_group);

    if (rc < 0)
        return rc;
    if (gethostname(own.host, sizeof own.host) != 0)
        snprintf(own.host, sizeof own.host, "?");
    own.host[HOST_SIZE - 1] = '\0';
    sched_getaffinity(0, sizeof own.processors, &own.processors);
    gather(process_group, process_group->member, &own, sizeof own);
    process_group_broadcast(process_group, process_group->member,
                            process_group->size * sizeof *process_group->member);
    return check_task(process_group);
}

int process_group_join(struct process_group **out, const char *library, uint64_t task)
{
    /* Plug-ins of the library of MPI look for its symbols among those of the program. */
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    const struct process_group_transport *transport =
        handle ? dlsym(handle, PROCESS_GROUP_TRANSPORT_SYMBOL) : NULL;
    struct process_group *process_group;
    int rc;

    *out = NULL;
    if (transport == NULL)
        return err_set(ERR_UNSUPPORTED, "cannot load '%s': %s", library, dlerror());
    *out = process_group = mem_alloc(1, sizeof *process_group);
    process_group->transport = transport;
    rc = transport->join(&process_group->size, &process_group->me);
    process_group->member = mem_alloc(process_group->size, sizeof *process_group->member);
    if (rc != 0)
        return err_set(ERR_UNSUPPORTED, "this %s cannot be called by several threads",
                       transport->name);
    return introduce(process_group, task);
}

void process_group_leave(struct process_group *process_group)
{
    if (process_group == NULL)
        return;
    process_group->transport->leave();
    free(process_group->member);
    free(process_group);
}

/* ------------------------------------------------------------------------------ who is who */

unsigned process_group_size(const struct process_group *process_group)
{
    return process_group ? process_group->size : 1;
}

unsigned process_group_me(const struct process_group *process_group)
{
    return process_group ? process_group->me : 0;
}

const char *process_group_host(const struct process_group *process_group, unsigned process)
{
    return process_group->member[process].host;
}

static unsigned on_node(const struct process_group *process_group, cpu_set_t *processors)
{
    unsigned n = 0;

    CPU_ZERO(processors);
    for (unsigned p = 0; p < process_group->size; p++)
        if (strcmp(process_group_host(process_group, p),
                   process_group_host(process_group, process_group->me)) == 0) {
            CPU_OR(processors, processors, &process_group->member[p].processors);
            n++;
        }
    return n;
}

void process_group_share(const struct process_group *process_group, unsigned *n_processes,
                         unsigned *n_processors)
{
    cpu_set_t processors;

    *n_processes = on_node(process_group, &processors);
    *n_processors = CPU_COUNT(&processors) > 0 ? (unsigned)CPU_COUNT(&processors) : 1;
}

void process_group_inherit(const struct process_group *process_group)
{
    cpu_set_t processors;

    on_node(process_group, &processors);
    sched_setaffinity(0, sizeof processors, &processors);
}

struct process_group_tally process_group_tally(const struct process_group *process_group)
{
    struct process_group_tally tally = process_group->tally;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    tally.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return tally;
}
