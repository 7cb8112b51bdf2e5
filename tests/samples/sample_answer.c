#include "sample_answer.h"

#include "base/err.h"
#include "prov/prov_reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static sqlite3_stmt *ask(const char *url, const char *sql, struct database *reader)
{
    sqlite3_stmt *query = NULL;

    if (prov_reader_open(url, reader) < 0)
        fail_msg("%s: %s", url, err_message());
    if (sqlite3_prepare_v2(reader->sql, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(reader->sql));
    return query;
}

char *sample_answer(const char *url, const char *sql)
{
    struct database reader;
    sqlite3_stmt *query = ask(url, sql, &reader);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int status;

    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        for (int c = 0; c < sqlite3_column_count(query); c++)
            fprintf(out, "%d %s|", sqlite3_column_type(query, c),
                    (const char *)sqlite3_column_text(query, c));
        fputc('\n', out);
    }
    if (status != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(reader.sql));
    fclose(out);
    sqlite3_finalize(query);
    database_close(&reader);
    return text;
}

int64_t sample_answer_number(const char *url, const char *sql)
{
    struct database reader;
    sqlite3_stmt *query = ask(url, sql, &reader);
    int64_t n;

    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    database_close(&reader);
    return n;
}

void sample_answer_is(const char *url, const char *sql, const char *expected)
{
    struct database reader;
    sqlite3_stmt *query = ask(url, sql, &reader);

    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(query, 0), expected);
    sqlite3_finalize(query);
    database_close(&reader);
}
