#include "cmd/status.h"

#include "base/err.h"
#include "base/log.h"

#include <stdio.h>

int status_of(int rc)
{
    if (rc >= 0)
        return rc;
    fprintf(stderr, "snag: %s\n", err_message());
    if (log_has_file())
        log_at(LOG_ERROR, "snag", "%s", err_message());
    log_info("error", "%s, raised at %s", err_name(rc), err_where());
    return rc == ERR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}
