/*
 * bin/snag of the archive that runs on any Linux: starts the real one by a dynamic loader, with the libraries that lie
 * beside it. This one is linked statically, so it needs none.
 *
 *     bin/snag                 this
 *     libexec/snag             the program
 *     lib/snag/                the libraries it was linked with
 *     lib/snag/libc/           the C library they were linked with, and its loader
 *
 * Nothing of that is said in the environment: what snag starts has that of its user. The directories of
 * LD_LIBRARY_PATH come behind ours, as the libraries of an MPI or of ADIOS2 may be there.
 *
 * Where the system's C library is at least as new as ours, it is used in place of ours, which it is compatible with:
 * libraries of the system that are loaded later (an MPI, name services) may need what ours has not.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_LOADER "/lib64/ld-linux-x86-64.so.2"

/* Where this lies: of bin/snag, the directory that has bin in it. False if that is not known. */
static bool find_root(char root[PATH_MAX])
{
    const char *executed = (const char *)getauxval(AT_EXECFN);
    ssize_t n = readlink("/proc/self/exe", root, PATH_MAX - 1);

    if (n >= 0)
        root[n] = '\0';
    else if (executed == NULL || realpath(executed, root) == NULL)
        return false;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(root, '/');

        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    return true;
}

/* Loaders of glibc say what they are: "... release version 2.36.". */
static bool is_new_enough(const char *loader)
{
    static const char words[] = "release version ";
    int file = open(loader, O_RDONLY | O_CLOEXEC);
    struct stat info;
    char *text = MAP_FAILED, *found;
    int major = 0, minor = 0;

    if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 64)
        text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    if (text == MAP_FAILED)
        return false;
    found = memmem(text, (size_t)info.st_size - 64, words, strlen(words));
    if (found) {
        char version[32] = {0};

        memcpy(version, found + strlen(words), sizeof version - 1);
        if (sscanf(version, "%d.%d", &major, &minor) != 2)
            major = 0;
    }
    munmap(text, (size_t)info.st_size);
    return major == __GLIBC__ && minor >= __GLIBC_MINOR__;
}

static char *text_of(const char *format, const char *a, const char *b, const char *c)
{
    char *text;

    if (asprintf(&text, format, a, b, c) < 0) {
        fputs("snag: out of memory\n", stderr);
        exit(1);
    }
    return text;
}

int main(int argc, char **argv)
{
    const char *users = getenv("LD_LIBRARY_PATH");
    char root[PATH_MAX], *loader, *libraries;
    char **words = calloc((size_t)argc + 8, sizeof *words);
    int n = 0;

    if (words == NULL || !find_root(root)) {
        fputs("snag: cannot find out where this program lies\n", stderr);
        return 1;
    }
    libraries = text_of("%s/lib/snag", root, NULL, NULL);
    if (is_new_enough(SYSTEM_LOADER)) {
        loader = (char *)(uintptr_t)SYSTEM_LOADER;
    } else {
        loader = text_of("%s/lib/snag/libc/ld-linux-x86-64.so.2", root, NULL, NULL);
        libraries = text_of("%s:%s/libc", libraries, libraries, NULL);
    }
    if (users && *users)
        libraries = text_of("%s:%s", libraries, users, NULL);
    words[n++] = loader;
    words[n++] = (char *)(uintptr_t) "--library-path";
    words[n++] = libraries;
    words[n++] = (char *)(uintptr_t) "--argv0";
    words[n++] = argc > 0 ? argv[0] : (char *)(uintptr_t) "snag";
    words[n++] = text_of("%s/libexec/snag", root, NULL, NULL);
    for (int i = 1; i < argc; i++)
        words[n++] = argv[i];
    execv(loader, words);
    fprintf(stderr,
            "snag: cannot run '%s': %s; bin/snag needs the lib and libexec beside bin\n",
            loader, strerror(errno));
    return 1;
}
