/* csv -- comma-separated values as RFC 4180 has them. */
#ifndef SNAG_VIEW_CSV_H
#define SNAG_VIEW_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* A record is not longer than that: one quote too many makes the rest of a file one field. */
#define CSV_MAX_BYTES (1u << 20)

/*
 * csv_text -- one field, quoted where it must be; a comma before it unless it is the first.
 * Names are those of other people: a text that a spreadsheet would take for a formula (it
 * begins with one of =+-@, a tab or a line end) gets a ' in front, which csv_read takes away
 * again.
 */
void csv_text(FILE *out, const char *text, bool is_first);

/* csv_number -- the same for the text of a number, which may begin with its sign. */
void csv_number(FILE *out, const char *text, bool is_first);

/*
 * csv_read -- the next record of a file; a ' that csv_text put there is not in it.
 *   field  (most) out: pointers into *buffer; NULL after the last field
 *   buffer out: grows as needed; free() it in the end
 * Returns the number of fields, which may be more than most (the rest is dropped), 0 at the
 * end or where nothing more can be read (ferror), -1 for a record that is too long.
 */
int csv_read(FILE *in, char **buffer, size_t *size, char **field, int most);

#endif
