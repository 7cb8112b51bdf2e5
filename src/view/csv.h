/* csv -- comma-separated values as RFC 4180 has them. */
#ifndef SNAG_VIEW_CSV_H
#define SNAG_VIEW_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* A record is not longer than that: one quote too many makes the rest of a file one field. */
#define CSV_MOST_BYTES (1u << 20)

/* csv_text -- one field, quoted where it must be; a comma before it unless it is the first. */
void csv_text(FILE *out, const char *text, bool is_first);

/*
 * csv_read -- the next record of a file.
 *   field  (most) out: pointers into *buffer; NULL after the last field
 *   buffer out: grows as needed; free() it in the end
 * Returns the number of fields, which may be more than most (the rest is dropped), 0 at the
 * end or where nothing more can be read (ferror), -1 for a record that is too long.
 */
int csv_read(FILE *in, char **buffer, size_t *size, char **field, int most);

#endif
