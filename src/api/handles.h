/* handles -- what several files of the library know of its handles. */
#ifndef SNAG_API_HANDLES_H
#define SNAG_API_HANDLES_H

#include "learn/model_file.h"

/* A model of a file; whoever scores by it reads the file again, as scoring renumbers it. */
struct snag_model {
    struct model model;
    char *path;
};

#endif
