/* The one table of commands. */
#include "cmd/commands.h"

#include "cmd/options.h"

static const struct command commands[] = {
    {"info", "TRACE [options]", "what is in a trace, and which functions are worth a look",
     "top all verify", 1, 1, cmd_info,
     "Reads a trace and prints its locations, its regions with calls and times, what was wrong "
     "with it, and which regions would make good functions of interest and why. Nothing is "
     "written.\n\nGiven a run (a directory that snag analyze wrote), prints what it holds.",
     "  snag info traces.otf2\n  snag info traces.otf2 --json | jq '.quality'"},
    {0},
};

const struct command *command_list(void)
{
    return commands;
}
