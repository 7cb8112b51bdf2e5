/*
 * The first thing that is exchanged is which build this is, as text of a fixed size: this must
 * not change, so that any two builds can tell that they are not the same. A build is told by
 * the number that the linker makes of what it links.
 */
#include "base/crew.h"

#include "base/crew_transport.h"
#include "base/err.h"
#include "base/mem.h"

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

struct crew {
    const struct crew_transport *transport;
    unsigned size, me;
    struct member *member; /* [size] */
    struct crew_tally tally;
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

void crew_send(struct crew *crew, unsigned to, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    crew->tally.n_sent++;
    crew->tally.sent_bytes += bytes;
    crew->transport->send(to, data, bytes);
}

void crew_receive(struct crew *crew, unsigned from, void *data, size_t bytes)
{
    if (bytes > 0)
        crew->transport->receive(from, data, bytes);
}

void crew_send_pack(struct crew *crew, unsigned to, const struct pack *pack)
{
    uint64_t n = pack->n;

    crew_send(crew, to, &n, sizeof n);
    crew_send(crew, to, pack->data, pack->n);
}

void crew_receive_pack(struct crew *crew, unsigned from, struct pack *pack)
{
    uint64_t n;

    *pack = (struct pack){0};
    crew_receive(crew, from, &n, sizeof n);
    pack->n = n;
    pack->data = mem_alloc(n, 1);
    crew_receive(crew, from, pack->data, n);
}

void crew_swap(struct crew *crew, unsigned with, const void *out, size_t out_bytes, void *in,
               size_t in_bytes)
{
    if (crew->me < with)
        crew_send(crew, with, out, out_bytes);
    crew_receive(crew, with, in, in_bytes);
    if (crew->me > with)
        crew_send(crew, with, out, out_bytes);
}

/* Numbers of partners add up to the round's, so both say the same. */
unsigned crew_partner(const struct crew *crew, unsigned round)
{
    return (round + crew->size - crew->me) % crew->size;
}

/* Along a tree: process p has it from the one whose number lacks the highest bit of p. */
void crew_broadcast(struct crew *crew, void *data, size_t bytes)
{
    unsigned bit = 1;

    if (crew == NULL)
        return;
    while (bit <= crew->me / 2)
        bit *= 2;
    if (crew->me > 0) {
        crew_receive(crew, crew->me - bit, data, bytes);
        bit *= 2;
    }
    for (; crew->me + bit < crew->size; bit *= 2)
        crew_send(crew, crew->me + bit, data, bytes);
}

void crew_broadcast_pack(struct crew *crew, struct pack *pack)
{
    uint64_t n = pack->n;

    crew_broadcast(crew, &n, sizeof n);
    if (crew->me > 0)
        *pack = (struct pack){.data = mem_alloc(n, 1), .n = n};
    crew_broadcast(crew, pack->data, n);
}

/* ------------------------------------------------------------------------------ agreement */

struct verdict {
    int32_t rc;
    char message[MESSAGE_SIZE];
};

int crew_blame(unsigned process, unsigned size, const char *host, int rc, const char *message)
{
    return err_set(rc, "process %u of %u (%s): %s", process, size, host, message);
}

static void blame(const struct crew *crew, unsigned process, const struct verdict *verdict)
{
    crew_blame(process, crew->size, crew_host(crew, process), verdict->rc, verdict->message);
}

int crew_agree(struct crew *crew, int rc)
{
    struct verdict verdict = {.rc = rc};

    if (crew == NULL)
        return rc;
    if (rc < 0)
        snprintf(verdict.message, sizeof verdict.message, "%s", err_message());
    if (crew->me > 0) {
        size_t bytes = rc < 0 ? sizeof verdict.message : 0;

        crew_send(crew, 0, &verdict.rc, sizeof verdict.rc);
        crew_send(crew, 0, verdict.message, bytes);
    }
    if (crew->me == 0 && rc < 0)
        blame(crew, 0, &verdict);
    for (unsigned p = 1; crew->me == 0 && p < crew->size; p++) {
        struct verdict other = {0};

        crew_receive(crew, p, &other.rc, sizeof other.rc);
        if (other.rc < 0)
            crew_receive(crew, p, other.message, sizeof other.message);
        if (other.rc < 0 && verdict.rc == 0) {
            verdict.rc = other.rc;
            blame(crew, p, &other);
        }
    }
    crew_broadcast(crew, &verdict.rc, sizeof verdict.rc);
    return verdict.rc;
}

/* -------------------------------------------------------------------------------- joining */

/* Number 0 has everybody's, in their order; the others their own. */
static void gather(struct crew *crew, void *all, const void *own, size_t size)
{
    if (crew->me > 0) {
        crew_send(crew, 0, own, size);
        return;
    }
    memcpy(all, own, size);
    for (unsigned p = 1; p < crew->size; p++)
        crew_receive(crew, p, (char *)all + p * size, size);
}

/* What all must have alike is compared with what number 0 has. */
static int check_build(struct crew *crew)
{
    char own[BUILD_SIZE] = "";
    char(*all)[BUILD_SIZE] = mem_alloc(crew->size, sizeof *all);
    unsigned odd = 0;

    dl_iterate_phdr(keep_build, own);
    gather(crew, all, own, sizeof own);
    for (unsigned p = crew->size; crew->me == 0 && p-- > 1;)
        if (memcmp(all[p], own, sizeof own) != 0)
            odd = p;
    if (odd > 0)
        err_set(ERR_USAGE,
                "process %u of %u runs another build of snag (%.16s) than process 0 "
                "(%.16s)",
                odd, crew->size, all[odd], own);
    crew_broadcast(crew, &odd, sizeof odd);
    free(all);
    return odd > 0 ? ERR_USAGE : 0;
}

static int check_task(struct crew *crew)
{
    unsigned odd = 0;

    for (unsigned p = crew->size; p-- > 1;)
        if (crew->member[p].task != crew->member[0].task)
            odd = p;
    if (odd > 0)
        return err_set(ERR_USAGE,
                       "process %u of %u (%s) was not told the same as process 0: all need the "
                       "same arguments",
                       odd, crew->size, crew_host(crew, odd));
    return 0;
}

static int introduce(struct crew *crew, uint64_t task)
{
    struct member own = {.task = task};
    int rc = check_build(crew);

    if (rc < 0)
        return rc;
    if (gethostname(own.host, sizeof own.host) != 0)
        snprintf(own.host, sizeof own.host, "?");
    own.host[HOST_SIZE - 1] = '\0';
    sched_getaffinity(0, sizeof own.processors, &own.processors);
    gather(crew, crew->member, &own, sizeof own);
    crew_broadcast(crew, crew->member, crew->size * sizeof *crew->member);
    return check_task(crew);
}

int crew_join(struct crew **out, const char *library, uint64_t task)
{
    /* Plug-ins of the library of MPI look for its symbols among those of the program. */
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    const struct crew_transport *transport =
        handle ? dlsym(handle, CREW_TRANSPORT_SYMBOL) : NULL;
    struct crew *crew;
    int rc;

    *out = NULL;
    if (transport == NULL)
        return err_set(ERR_UNSUPPORTED, "cannot load '%s': %s", library, dlerror());
    *out = crew = mem_alloc(1, sizeof *crew);
    crew->transport = transport;
    rc = transport->join(&crew->size, &crew->me);
    crew->member = mem_alloc(crew->size, sizeof *crew->member);
    if (rc != 0)
        return err_set(ERR_UNSUPPORTED, "this %s cannot be called by several threads",
                       transport->name);
    return introduce(crew, task);
}

void crew_leave(struct crew *crew)
{
    if (crew == NULL)
        return;
    crew->transport->leave();
    free(crew->member);
    free(crew);
}

/* ------------------------------------------------------------------------------ who is who */

unsigned crew_size(const struct crew *crew)
{
    return crew ? crew->size : 1;
}

unsigned crew_me(const struct crew *crew)
{
    return crew ? crew->me : 0;
}

const char *crew_host(const struct crew *crew, unsigned process)
{
    return crew->member[process].host;
}

static unsigned on_node(const struct crew *crew, cpu_set_t *processors)
{
    unsigned n = 0;

    CPU_ZERO(processors);
    for (unsigned p = 0; p < crew->size; p++)
        if (strcmp(crew_host(crew, p), crew_host(crew, crew->me)) == 0) {
            CPU_OR(processors, processors, &crew->member[p].processors);
            n++;
        }
    return n;
}

void crew_share(const struct crew *crew, unsigned *n_processes, unsigned *n_processors)
{
    cpu_set_t processors;

    *n_processes = on_node(crew, &processors);
    *n_processors = CPU_COUNT(&processors) > 0 ? (unsigned)CPU_COUNT(&processors) : 1;
}

void crew_inherit(const struct crew *crew)
{
    cpu_set_t processors;

    on_node(crew, &processors);
    sched_setaffinity(0, sizeof processors, &processors);
}

struct crew_tally crew_tally(const struct crew *crew)
{
    struct crew_tally tally = crew->tally;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    tally.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return tally;
}
