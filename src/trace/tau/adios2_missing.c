/* In place of adios2_reader.c where ADIOS2 is not. */
#include "base/err.h"
#include "trace/tau/adios2_reader.h"

int adios2_reader_check(const char *path)
{
    return err_set(ERR_UNSUPPORTED,
                   "cannot read '%s': this build is without ADIOS2; install it (Debian 13: "
                   "libadios2-serial-c-dev, Spack: adios2) and build again",
                   path);
}

int adios2_reader_run(void *ctx, struct worker_process_end *end)
{
    const struct adios2_reader *reader = ctx;

    (void)end;
    return adios2_reader_check(reader->path);
}
