/* A hash table of queues. The lock guards all of it; entries that are free are kept. */
#include "open_requests.h"

#include "complain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define N_QUEUES 4096 /* a power of two */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_request *queue[N_QUEUES], *spare;
static atomic_uint_fast64_t last_id;

uint64_t request_id(void)
{
    return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

/* A handle is a pointer or an int, as the MPI library likes. */
static struct open_request **queue_of(MPI_Request handle)
{
    uint64_t bits = 0;

    memcpy(&bits, &handle, sizeof handle < sizeof bits ? sizeof handle : sizeof bits);
    return &queue[(bits * 0x9e3779b97f4a7c15u >> 40) & (N_QUEUES - 1)];
}

void request_put(const struct open_request *r, MPI_Request handle, const MPI_Request *where)
{
    struct open_request **at, *entry;

    pthread_mutex_lock(&lock);
    entry = spare;
    if (entry)
        spare = entry->next;
    else
        entry = must_resize(NULL, 1, sizeof *entry);
    *entry = *r;
    entry->handle = handle;
    entry->where = where;
    entry->next = NULL;
    for (at = queue_of(handle); *at; at = &(*at)->next)
        ;
    *at = entry;
    pthread_mutex_unlock(&lock);
}

bool request_take(const MPI_Request *where, struct open_request *r)
{
    struct open_request **at, **found = NULL, *entry;

    if (*where == MPI_REQUEST_NULL)
        return false;
    pthread_mutex_lock(&lock);
    for (at = queue_of(*where); *at; at = &(*at)->next) {
        if ((*at)->handle != *where)
            continue;
        if (found == NULL)
            found = at;
        if ((*at)->where == where) {
            found = at;
            break;
        }
    }
    if (found) {
        entry = *found;
        *found = entry->next;
        *r = *entry;
        entry->next = spare;
        spare = entry;
    }
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

void request_put_back(const struct open_request *r)
{
    request_put(r, r->handle, r->where);
}
