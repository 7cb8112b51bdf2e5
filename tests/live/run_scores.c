/*
 * The executions of a run as CSV, every digit of their scores: SQLite's printf and the tables
 * that people read have fewer.
 *
 *     run_scores RUN          id,score,verdict,part
 */
#include <stdio.h>

#include <sqlite3.h>

int main(int argc, char **argv)
{
    char path[4096];
    sqlite3 *db;
    sqlite3_stmt *query;

    snprintf(path, sizeof path, "%s/run.db", argc > 1 ? argv[1] : "");
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT rank, thread, idx, score, verdict, part FROM execution",
                           -1, &query, NULL) != SQLITE_OK) {
        fprintf(stderr, "run_scores: %s\n", sqlite3_errmsg(db));
        return 1;
    }
    while (sqlite3_step(query) == SQLITE_ROW) {
        printf("#%d", sqlite3_column_int(query, 0));
        if (sqlite3_column_int(query, 1) > 0)
            printf(".%d", sqlite3_column_int(query, 1));
        printf("-%d,%.17g,%s,%s\n", sqlite3_column_int(query, 2),
               sqlite3_column_double(query, 3), (const char *)sqlite3_column_text(query, 4),
               (const char *)sqlite3_column_text(query, 5));
    }
    sqlite3_finalize(query);
    return sqlite3_close(db) != SQLITE_OK;
}
