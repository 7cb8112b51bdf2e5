#include "http/reply.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void append(struct reply *reply, const char *text)
{
    size_t n = strlen(text);

    mem_grow(&reply->head, &reply->head_cap, reply->n_head + n, 1);
    memcpy(reply->head + reply->n_head, text, n);
    reply->n_head += n;
}

struct reply *reply_new(unsigned status, const char *title)
{
    struct reply *reply = mem_alloc(1, sizeof *reply);
    char line[64];

    reply->n_users = 1;
    snprintf(line, sizeof line, "HTTP/1.1 %u %s\r\n", status, title);
    append(reply, line);
    return reply;
}

void reply_field(struct reply *reply, const char *name, const char *value)
{
    append(reply, name);
    append(reply, ": ");
    append(reply, value);
    append(reply, "\r\n");
}

void reply_part(struct reply *reply, const void *data, size_t size)
{
    if (size == 0)
        return;
    assert(reply->n_parts < REPLY_MAX_PARTS);
    reply->part[reply->n_parts++] = (struct iovec){(void *)(uintptr_t)data, size};
    reply->body_bytes += size;
}

struct reply *reply_hold(struct reply *reply)
{
    reply->n_users++;
    return reply;
}

void reply_drop(struct reply *reply)
{
    if (reply == NULL || --reply->n_users > 0)
        return;
    if (reply->release)
        reply->release(reply->owner);
    free(reply->head);
    free(reply);
}
