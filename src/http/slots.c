#include "http/slots.h"

#include "base/xxh.h"

#include <netinet/in.h>
#include <stddef.h>

unsigned slots_address(uint64_t seed, const struct sockaddr *from)
{
    const void *bytes = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
    size_t n = sizeof(struct in_addr);

    if (from->sa_family == AF_INET6) {
        const struct in6_addr *v6 =
            &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        bool is_mapped = IN6_IS_ADDR_V4MAPPED(v6);

        bytes = is_mapped ? &v6->s6_addr[12] : v6->s6_addr;
        n = is_mapped ? 4 : 8;
    }
    return (unsigned)(XXH3_64bits_withSeed(bytes, n, seed) % SLOTS_ADDRESSES);
}

void slots_take(struct slots *slots, unsigned address)
{
    slots->n++;
    if (++slots->n_of[address] == slots->most_of_address + 1)
        slots->n_over++;
}

void slots_give(struct slots *slots, unsigned address)
{
    slots->n--;
    if (slots->n_of[address]-- == slots->most_of_address + 1)
        slots->n_over--;
}

bool slots_is_over(const struct slots *slots, unsigned address)
{
    return slots->n_of[address] > slots->most_of_address;
}
