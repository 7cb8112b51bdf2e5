/*
 * What of the C library has a newer version where the tracer is built than where it may run.
 *
 * A linker writes down the newest version of each function that it finds. Those here moved from
 * libpthread, libdl and librt into libc in glibc 2.34 (or a little earlier) and are the same as
 * ever; fstat() and lstat() were no functions before 2.33. A program under a glibc of 2018 would
 * not find the new versions and not start. So each is defined here, hidden, and asks for the
 * version that all have; so are those of C23 (2.38), which headers put in the place of others for the sake of
 * numbers in binary, which no tracer reads. The test old_libc reads what is asked for in the end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* A function of so many arguments that is as it was in that version. */
#define AS_OF(version, result, function, parameters, arguments)                                \
    __asm__(".symver old_" #function "," #function "@GLIBC_" version);                         \
    extern __typeof__(function) old_##function;                                                \
    HIDDEN result function parameters                                                          \
    {                                                                                          \
        return old_##function arguments;                                                       \
    }

AS_OF("2.2.5", int, dladdr, (const void *address, Dl_info *info), (address, info))
AS_OF("2.3.3", int, dladdr1, (const void *address, Dl_info *info, void **extra, int flags),
      (address, info, extra, flags))
AS_OF("2.2.5", int, dlclose, (void *library), (library))
AS_OF("2.2.5", void *, dlopen, (const char *file, int mode), (file, mode))
AS_OF("2.2.5", void *, dlsym, (void *restrict library, const char *restrict name),
      (library, name))

AS_OF("2.2.5", int, pthread_attr_getstack,
      (const pthread_attr_t *restrict attributes, void **restrict address,
       size_t *restrict bytes),
      (attributes, address, bytes))
AS_OF("2.3.3", int, pthread_condattr_setclock,
      (pthread_condattr_t * attributes, clockid_t which), (attributes, which))
AS_OF("2.2.5", int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *attributes),
      (thread, attributes))
AS_OF("2.2.5", int, pthread_join, (pthread_t thread, void **result), (thread, result))
AS_OF("2.2.5", int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end))
AS_OF("2.2.5", int, pthread_once, (pthread_once_t * once, void (*function)(void)),
      (once, function))
AS_OF("2.2.5", int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
AS_OF("2.2.5", int, pthread_sigmask,
      (int how, const sigset_t *restrict now, sigset_t *restrict before), (how, now, before))

AS_OF("2.3.3", int, timer_create,
      (clockid_t which, struct sigevent *restrict event, timer_t *restrict timer),
      (which, event, timer))
AS_OF("2.3.3", int, timer_delete, (timer_t timer), (timer))
AS_OF("2.3.3", int, timer_settime,
      (timer_t timer, int flags, const struct itimerspec *restrict to,
       struct itimerspec *restrict before),
      (timer, flags, to, before))

/* What the headers of then made of these. */
#define STAT_VERSION 1
__asm__(".symver old_fxstat,__fxstat@GLIBC_2.2.5");
__asm__(".symver old_lxstat,__lxstat@GLIBC_2.2.5");
int old_fxstat(int version, int file, struct stat *info);
int old_lxstat(int version, const char *path, struct stat *info);

HIDDEN int fstat(int file, struct stat *info)
{
    return old_fxstat(STAT_VERSION, file, info);
}

HIDDEN int lstat(const char *restrict path, struct stat *restrict info)
{
    return old_lxstat(STAT_VERSION, path, info);
}

/* What newer headers make of sscanf() and strtoull(). */
__asm__(".symver old_vsscanf,__isoc99_vsscanf@GLIBC_2.7");
__asm__(".symver old_strtoull,strtoull@GLIBC_2.2.5");
int old_vsscanf(const char *text, const char *format, va_list arguments);
unsigned long long old_strtoull(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

HIDDEN int __isoc23_sscanf(const char *text, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = old_vsscanf(text, format, arguments);
    va_end(arguments);
    return n;
}

HIDDEN unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
    return old_strtoull(text, end, base);
}
