#include "http/request.h"

#include "base/err.h"
#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *request_text(const struct request *request, const char *name, const char *fallback)
{
    for (size_t i = 0; i < request->n_parameters; i++)
        if (strcmp(request->parameter[i].name, name) == 0 && *request->parameter[i].value)
            return request->parameter[i].value;
    return fallback;
}

int request_real(const struct request *request, const char *name, double least, double most,
                 double fallback, double *out)
{
    const char *text = request_text(request, name, NULL);
    char *end;

    *out = fallback;
    if (text == NULL)
        return 0;
    *out = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || *end != '\0' || !isfinite(*out) || *out < least ||
        *out > most)
        return err_set(ERR_USAGE, "'%s' takes a number from %.0f to %.0f, not '%.40s'", name,
                       least, most, text);
    return 0;
}

int request_number(const struct request *request, const char *name, double least, double most,
                   double fallback, double *out)
{
    int rc = request_real(request, name, least, most, fallback, out);

    if (rc == 0)
        *out = floor(*out);
    return rc;
}

static int complain_list(const char *name, uint32_t below, const char *text)
{
    return err_set(ERR_USAGE, "'%s' takes different numbers below %u, as in 0,1, not '%.40s'",
                   name, below, text);
}

int request_list(const struct request *request, const char *name, uint32_t below, uint32_t *out,
                 uint32_t *n)
{
    const char *text = request_text(request, name, NULL), *at = text;
    bool *is_there;
    int rc = 0;

    *n = 0;
    if (text == NULL) {
        for (; *n < below; (*n)++)
            out[*n] = *n;
        return 0;
    }
    is_there = mem_alloc(below, sizeof *is_there);
    while (rc == 0 && *at) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        bool is_number = isdigit((unsigned char)*at) && (*end == ',' || *end == '\0');

        if (!is_number || value >= below || is_there[value] ||
            (*end == ',' && end[1] == '\0')) {
            rc = complain_list(name, below, text);
            break;
        }
        is_there[value] = true;
        out[(*n)++] = (uint32_t)value;
        at = *end ? end + 1 : end;
    }
    free(is_there);
    return rc;
}
