/*
 * html -- what stands in a page that nobody serves: texts from traces, and data for its
 * scripts. Whatever a name holds, it stays a text: it opens no tag, ends no script, and turns
 * no line.
 */
#ifndef SNAG_VIEW_HTML_H
#define SNAG_VIEW_HTML_H

#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#define HTML_MAX_TEXT_BYTES                                                                    \
    4000u /* bytes of a text that are shown: names may be of any length */

/* html_text -- between tags, or in an attribute in quotes; as text_printable has it. */
void html_text(FILE *out, const char *text);

/* html_whole -- how many bytes of a text, up to `most`, are characters as a whole. */
size_t html_whole(const char *text, size_t most);

/* html_element -- a text in a tag: <tag>text</tag>. */
void html_element(FILE *out, const char *tag, const char *text);

/* html_data -- a value as JSON that may stand in a script element. */
void html_data(FILE *out, const json_t *json);

/* html_base64 -- bytes as a JSON string. */
json_t *html_base64(const void *bytes, size_t n);

#endif
