/* What libpq says of an URL that it cannot read has parts of it, and so maybe of a password: it
 * is handed on only where there can be none. */
#include "postgres/pg_url.h"

#include "base/err.h"
#include "base/mem.h"
#include "postgres/libpq.h"

#include <stdio.h>
#include <string.h>

bool pg_url_is(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
}

const char *pg_url_part(const char *text)
{
    const char *mark = strchr(text, '#');

    return mark ? mark + 1 : NULL;
}

char *pg_url_without_part(const char *text)
{
    char *url = mem_copy_string(text);

    url[strcspn(url, "#")] = '\0';
    return url;
}

static int refuse_password(void)
{
    return err_set(ERR_USAGE, "a password in the URL can be read by everybody on this machine: "
                              "leave it out, and put it into ~/.pgpass (PGPASSFILE), a service "
                              "file (?service=NAME) or PGPASSWORD");
}

static bool has_password(const PQconninfoOption *option)
{
    for (; option->keyword; option++)
        if ((strcmp(option->keyword, "password") == 0 ||
             strcmp(option->keyword, "sslpassword") == 0) &&
            option->val)
            return true;
    return false;
}

int pg_url_check(const char *url)
{
    char *error = NULL;
    PQconninfoOption *option = PQconninfoParse(url, &error);
    bool may_hide = strchr(url, '@') || strcasestr(url, "pass");
    int rc = 0;

    if (option == NULL && may_hide)
        rc = err_set(ERR_USAGE, "no URL that PostgreSQL takes: expected "
                                "postgresql://USER@HOST:PORT/DATABASE, without a password");
    else if (option == NULL)
        rc = err_set(ERR_USAGE, "no URL that PostgreSQL takes: %.*s",
                     error ? (int)strcspn(error, "\n") : 0, error ? error : "");
    else if (has_password(option))
        rc = refuse_password();
    PQfreemem(error);
    PQconninfoFree(option);
    return rc;
}
