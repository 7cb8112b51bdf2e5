/*
 * SQL that anybody may send to the page. Whatever it is, it ends in time, the database is what
 * it was, and nothing else is in its directory than before.
 */
#include "fuzz.h"

#include "base/fs.h"
#include "base/progress.h"
#include "run/rundb.h"
#include "run/sql_query.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_dir.h"

#define TIME_NS 50000000u
#define PATIENCE_NS 20000000000u /* of a machine that does much else, with sanitizers */

static char place[64];
static int dir = -1;
static struct stat first;

static void make_run(void)
{
    struct database db = {0};
    char path[128];

    strcpy(place, "/tmp/snag-fuzz-query-XXXXXX");
    if (test_dir(place) == NULL || rundb_create(place, &db) < 0 ||
        rundb_set(db.sql, "format", RUNDB_FORMAT) < 0 ||
        rundb_exec(db.sql,
                   "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                   "LIMIT 50) INSERT INTO comm SELECT i, 'c' || i, 100 * i FROM n") < 0 ||
        rundb_finish(db.sql) < 0)
        abort();
    database_close(&db);
    dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/" RUNDB_NAME, place);
    if (dir < 0 || stat(path, &first) != 0)
        abort();
}

/* run.db as it was, and beside it what SQLite puts there to read. */
static void check_place(void)
{
    DIR *entries = opendir(place);
    struct dirent *entry;
    struct stat now;

    if (entries == NULL)
        abort();
    while ((entry = readdir(entries)) != NULL)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, RUNDB_NAME) != 0 &&
            strcmp(entry->d_name, RUNDB_NAME "-wal") != 0 &&
            strcmp(entry->d_name, RUNDB_NAME "-shm") != 0)
            abort();
    closedir(entries);
    if (fstatat(dir, RUNDB_NAME, &now, AT_SYMLINK_NOFOLLOW) != 0 ||
        now.st_size != first.st_size || now.st_mtim.tv_sec != first.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != first.st_mtim.tv_nsec || now.st_ino != first.st_ino)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sql_query_limits limits = {TIME_NS, (uint64_t)32 << 20, 1 << 20, 100, NULL,
                                            NULL};
    struct database db = {0};
    char *text = strndup((const char *)data, size < 8192 ? size : 8192);
    uint64_t begin_ns = clock_ns();
    json_t *answer = NULL;

    if (dir < 0)
        make_run();
    if (text == NULL || rundb_open(dir, place, false, &db) < 0)
        abort();
    if (sql_query_answer(&db, text, &limits, &answer) == 0 &&
        (json_array_size(json_object_get(answer, "rows")) > limits.rows ||
         json_integer_value(json_object_get(answer, "total")) <
             (json_int_t)json_array_size(json_object_get(answer, "rows"))))
        abort();
    if (sqlite3_total_changes(db.sql) != 0 || clock_ns() - begin_ns > PATIENCE_NS)
        abort();
    database_close(&db);
    check_place();
    json_decref(answer);
    free(text);
    return 0;
}
