/*
 * snag report -- one file that says what a run, a comparison or a history says, to be sent: it
 * needs no server, no network, and to be read no script.
 *
 * It is made in memory and written when all of it is there, so what goes wrong leaves nothing.
 * The page that web/src/report/ was built to has places for a title, a text and data, which
 * are comments of HTML, in this order: <!--title-->, <!--text-->, <!--data-->.
 */
#include "cmd/cmd_report.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/report_run.h"
#include "cmd/report_runs.h"
#include "compare/run_history.h"
#include "prov/prov_store.h"
#include "serve/routes.h"
#include "view/html.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --------------------------------------------------------------------------------- the page */

/* Writes the template from one mark to the next; "": from its beginning, or to its end. */
static void put_part(FILE *out, const char *from, const char *to)
{
    const struct asset *page = asset_report();
    const char *begin = (const char *)page->data, *end = begin + page->size;
    const char *first = *from ? memmem(begin, page->size, from, strlen(from)) : begin;

    if (first == NULL)
        return;
    first += strlen(from);
    if (*to && memmem(first, (size_t)(end - first), to, strlen(to)))
        end = memmem(first, (size_t)(end - first), to, strlen(to));
    fwrite(first, 1, (size_t)(end - first), out);
}

/* All up to where the text begins. */
static void report_page_begin(FILE *out, const char *title)
{
    put_part(out, "", "<!--title-->");
    html_text(out, title);
    put_part(out, "<!--title-->", "<!--text-->");
}

/* What follows the text. data  for the drawings; or NULL. */
static void report_page_end(FILE *out, const json_t *data)
{
    put_part(out, "<!--text-->", "<!--data-->");
    if (data) {
        fputs("<script type=\"application/json\" id=\"answers\">", out);
        html_data(out, data);
        fputs("</script>\n", out);
    }
    put_part(out, "<!--data-->", "");
}

static void put_element(FILE *out, const char *tag, const char *fmt, va_list args)
{
    char *text = text_new_of(fmt, args);

    html_element(out, tag, text);
    free(text);
}

void report_heading(FILE *out, int level, const char *fmt, ...)
{
    const char tag[] = {'h', (char)('0' + level), '\0'};
    va_list args;

    va_start(args, fmt);
    put_element(out, tag, fmt, args);
    va_end(args);
}

void report_text(FILE *out, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    put_element(out, "p", fmt, args);
    va_end(args);
}

void report_figure(FILE *out, const char *view, const char *address, const char *caption)
{
    fprintf(out, "<figure data-view=\"%s\" data-of=\"%s\"><figcaption>", view, address);
    html_text(out, caption);
    fputs("</figcaption></figure>\n", out);
}

/* ------------------------------------------------------------------------------ the command */

#define TITLE_SIZE 600
#define NAME_SIZE 256

struct reporting {
    const struct settings *settings;
    struct answers answers;
    bool has_run;
    char trace_dir[FS_PATH_SIZE]; /* of a run that was made of a trace; or "" */
    FILE *text;                   /* what is said */
};

/* ----------------------------------------------------------------------------------- names */

/* The last part of a path, without what may stand after it, and without the ending of a run. */
static void short_name(const char *path, char out[NAME_SIZE])
{
    size_t n = strlen(path), first;

    while (n > 1 && path[n - 1] == '/')
        n--;
    for (first = n; first > 0 && path[first - 1] != '/';)
        first--;
    snprintf(out, NAME_SIZE, "%.*s", (int)(n - first < NAME_SIZE ? n - first : NAME_SIZE - 8),
             path + first);
    n = strlen(out);
    if (n > 5 && strcmp(out + n - 5, ".snag") == 0)
        out[n - 5] = '\0';
    if (*out == '\0' || strcmp(out, ".") == 0 || strcmp(out, "..") == 0)
        snprintf(out, NAME_SIZE, "report");
}

static bool is_comparison(const struct settings *s)
{
    return s->n_args > 1 || s->compare.base.n > 0;
}

static void title_of(const struct settings *s, char out[TITLE_SIZE])
{
    char name[NAME_SIZE], base[NAME_SIZE];

    short_name(s->args[s->n_args - 1], name);
    short_name(s->compare.base.n > 0 ? s->compare.base.text[0] : s->args[0], base);
    if (is_comparison(s) && s->compare.base.n > 1)
        snprintf(out, TITLE_SIZE, "%s against %s and %u more", name, base,
                 s->compare.base.n - 1);
    else if (is_comparison(s))
        snprintf(out, TITLE_SIZE, "%s against %s", name, base);
    else
        snprintf(out, TITLE_SIZE, "%s", name);
}

/* What would be said in vain. */
static int check_options(const struct settings *s)
{
    if (is_comparison(s))
        return options_refuse(s, "path", "is for the report of a history alone");
    return history_is(s->args[0])
               ? 0
               : options_refuse(
                     s, "least rename last tag path",
                     "is for runs that are compared, and histories: this is one run");
}

/* Where to write when nothing is said: beside what is there, never over it. */
static int choose_output(const struct settings *s, char out[NAME_SIZE + 8])
{
    char name[NAME_SIZE];

    short_name(s->args[s->n_args - 1], name);
    snprintf(out, NAME_SIZE + 8, "%.250s.html", name);
    return fs_exists(out)
               ? err_set(ERR_EXISTS, "'%s' is there already; -o %s writes over it", out, out)
               : 0;
}

/* ------------------------------------------------------------------------------- the parts */

static int put_run(struct reporting *r, const char *path)
{
    int rc = answers_open(&r->answers, path);

    r->has_run = rc == 0;
    if (rc == 0 && r->settings->is_verified)
        rc = columns_verify(&r->answers.served.run.columns);
    return rc == 0 ? report_run(r->text, r->settings, &r->answers) : rc;
}

static int put_trace(struct reporting *r, const char *path)
{
    const struct settings *s = r->settings;
    char run[FS_PATH_SIZE];
    int rc = trace_run_make(s, path, settings_foi(s), r->trace_dir);

    if (rc == 0)
        rc = fs_join(run, r->trace_dir, TRACE_RUN_NAME);
    return rc == 0 ? put_run(r, run) : rc;
}

static int put_history(struct reporting *r)
{
    uint32_t n_runs = 0;
    int rc = report_history(r->text, r->settings, &r->answers, &n_runs);

    return rc == 0 && n_runs > 1 ? report_change(r->text, r->settings, &r->answers) : rc;
}

/* What changed; and of what is new, where that is one run, what is strange in it. */
static int put_change(struct reporting *r)
{
    const struct settings *s = r->settings;
    const char *new = s->args[s->n_args - 1];
    bool is_one = s->n_args == (s->compare.base.n > 0 ? 1 : 2);
    int rc = report_change(r->text, s, &r->answers);

    if (rc != 0 || !is_one || !rundir_is_run(new))
        return rc;
    report_heading(r->text, 2, "The new run");
    return put_run(r, new);
}

static int put_one(struct reporting *r)
{
    const char *path = r->settings->args[0];
    struct stat info;

    if (history_is(path))
        return put_history(r);
    if (prov_store_is(path))
        return err_set(ERR_USAGE,
                       "'%s' is a store of provenance; reports are made of runs, traces and "
                       "histories",
                       path);
    if (rundir_is_run(path) || (stat(path, &info) != 0 && strchr(path, ':') == NULL))
        return put_run(r, path); /* whose words say what is wrong */
    return put_trace(r, path);
}

/* ------------------------------------------------------------------------------- the whole */

static int make_text(struct reporting *r)
{
    int rc = is_comparison(r->settings) ? put_change(r) : put_one(r);

    if (rc == 0)
        report_made(r->text, r->settings, r->has_run ? &r->answers : NULL);
    return rc;
}

static void put_page(FILE *out, const char *title, const char *text, const json_t *data)
{
    report_page_begin(out, title);
    html_element(out, "h1", title);
    fputs(text, out);
    report_page_end(out, data);
}

static int write_page(const struct reporting *r, const char *text, const char *path)
{
    char title[TITLE_SIZE];
    struct output output;
    struct stat info;
    char size[TEXT_SIZE];
    int rc = output_open(&output, path);

    if (rc == 0) {
        title_of(r->settings, title);
        put_page(output.file, title, text, r->answers.json);
    }
    rc = output_close(&output, rc);
    if (rc < 0 || strcmp(path, "-") == 0 || stat(path, &info) != 0)
        return rc;
    if (r->settings->is_json)
        print_json(json_pack("{s:o, s:I}", "report", json_text(path), "bytes",
                             (json_int_t)info.st_size),
                   false);
    else
        print("written to %s (%s)\n", path, text_bytes((double)info.st_size, size));
    return rc;
}

int cmd_report(const struct settings *settings)
{
    struct reporting r = {.settings = settings};
    char own[NAME_SIZE + 8], *text = NULL;
    const char *path = settings->output ? settings->output : own;
    size_t size;
    int rc = check_options(settings);

    if (rc == 0 && settings->output == NULL)
        rc = choose_output(settings, own);
    if (rc < 0)
        return rc;
    r.text = text_open(&text, &size);
    rc = make_text(&r);
    fclose(r.text);
    if (rc == 0)
        rc = write_page(&r, text, path);
    answers_close(&r.answers);
    trace_run_remove(r.trace_dir);
    free(text);
    return rc;
}

int report_make(const void *settings, const char *path, char **page, size_t *size)
{
    struct reporting r = {.settings = settings};
    char title[NAME_SIZE], *text = NULL;
    size_t text_size;
    FILE *out;
    int rc;

    r.text = text_open(&text, &text_size);
    rc = put_run(&r, path);
    if (rc == 0)
        report_made(r.text, settings, &r.answers);
    fclose(r.text);
    if (rc == 0) {
        short_name(path, title);
        out = text_open(page, size);
        put_page(out, title, text, r.answers.json);
        fclose(out);
    }
    answers_close(&r.answers);
    free(text);
    return rc;
}
