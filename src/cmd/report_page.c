/* The places are comments of HTML: <!--title-->, <!--text-->, <!--data-->, in this order. */
#include "cmd/report_page.h"

#include "base/mem.h"
#include "serve/assets.h"
#include "view/html.h"

#include <stdlib.h>
#include <string.h>

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

void report_page_begin(FILE *out, const char *title)
{
    put_part(out, "", "<!--title-->");
    html_text(out, title);
    put_part(out, "<!--title-->", "<!--text-->");
}

void report_page_end(FILE *out, const json_t *data)
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
    char *text;

    if (vasprintf(&text, fmt, args) < 0)
        mem_give_up(1, BUFSIZ);
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
