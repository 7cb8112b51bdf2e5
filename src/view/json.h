/* json -- values as JSON: texts of any bytes, counts. */
#ifndef SNAG_VIEW_JSON_H
#define SNAG_VIEW_JSON_H

#include <stdint.h>

#include <jansson.h>

/* json_text -- a JSON string of any bytes; what is not UTF-8 becomes U+FFFD. */
json_t *json_text(const char *text);

/* json_count -- a JSON integer. */
json_t *json_count(uint64_t n);

#endif
