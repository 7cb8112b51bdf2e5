#include "cmd/output.h"

#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is there and no file has to be written to as it is: a pipe, a terminal, /dev/null. */
static bool is_special(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

int output_open(struct output *o, const char *path)
{
    char target[PATH_MAX]; /* where a link leads that somebody names is where he wants it */
    int rc = 0;

    *o = (struct output){.file = stdout, .name = "standard output"};
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    o->name = path;
    if (is_special(path)) {
        o->file = fopen(path, "w");
    } else {
        rc = fs_new_open(&o->made, realpath(path, target) ? target : path);
        o->file = rc == 0 ? fdopen(dup(o->made.fd), "w") : NULL;
    }
    if (rc == 0 && o->file == NULL)
        rc = err_set(ERR_IO, "cannot create '%s': %s", path, strerror(errno));
    return rc;
}

int output_close(struct output *o, int rc)
{
    if (o->file && (ferror(o->file) || fflush(o->file) != 0) && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", o->name, strerror(errno));
    if (o->file && o->file != stdout && fclose(o->file) != 0 && rc == 0)
        rc = err_set(ERR_IO, "cannot write '%s': %s", o->name, strerror(errno));
    if (rc == 0 && o->made.part[0])
        rc = fs_new_commit(&o->made);
    fs_new_abandon(&o->made);
    *o = (struct output){0};
    return rc;
}
