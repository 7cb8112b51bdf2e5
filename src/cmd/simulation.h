/* simulation -- snag evaluate --simulate: active learning played against known labels. */
#ifndef SNAG_CMD_SIMULATION_H
#define SNAG_CMD_SIMULATION_H

#include "cmd/settings.h"

/* simulation_run -- play and print the curve. Returns 0 or a negative ERR_*. */
int simulation_run(const struct settings *settings);

#endif
