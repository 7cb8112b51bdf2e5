/* command_line -- what was typed, to be typed again: with quotes where a shell needs them. */
#ifndef SNAG_CMD_COMMAND_LINE_H
#define SNAG_CMD_COMMAND_LINE_H

#include "cmd/settings.h"

/* command_line -- "snag analyze 'a b.otf2'"; free it. Options may stand before arguments;
 * --together is left out. */
char *command_line(const struct settings *settings);

/* command_line_word -- one word in quotes that a shell takes away; free it. */
char *command_line_word(const char *word);

#endif
