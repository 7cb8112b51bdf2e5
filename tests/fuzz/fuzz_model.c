/* A packed residual model; what is accepted is used on a forest as snag show does. */
#include "fuzz.h"

#include "explain/why.h"
#include "features/residual.h"
#include "features/wl.h"

#include <string.h>

#include "sample_forest.h"

static void use(struct residual_model *model, struct forest *forest, struct definitions *defs)
{
    static const double value[5] = {2, 2, 2, 2, 2};
    const struct why_verdict verdict = {.value = value, .is_anomaly = true, .expected = 0.5};
    struct why_child child[WHY_MAX_CHILDREN];
    struct residual_measure measure[3];
    struct residual_place place = {0};
    char sentence[WHY_SIZE];
    struct why why = {0};
    struct wl wl = {0};
    const struct residual_input input = {.forest = forest, .wl = &wl, .defs = defs};

    wl_init(&wl, forest, defs, false, NULL);
    residual_locate(model, &place, &input);
    residual_measures(model, &place, &input, measure);
    why_init(&why, model, &place, forest, defs);
    for (uint32_t t = 0; t < forest->n_trees; t++) {
        why_sentence(&why, t, &measure[t], &verdict, sentence);
        why_children(&why, measure[t].rarest, child);
    }
    why_release(&why);
    residual_place_release(&place);
    wl_release(&wl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack pack = {.data = (unsigned char *)(uintptr_t)data, .n = size};
    struct definitions defs = {0};
    struct residual_model model;
    struct forest forest = {0};

    sample_forest("A:100(B:50 C:20) A:100(B:50 B:9 C:20) A(D(E))", &defs, &forest);
    if (residual_unpack(&model, &pack, defs.names.n) == 0)
        use(&model, &forest, &defs);
    residual_release(&model);
    forest_release(&forest);
    definitions_release(&defs);
    return 0;
}
