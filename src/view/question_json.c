/* A question is its execution, why it is asked, its kind, and what the answer is worth. */
#include "view/question_json.h"

#include "base/json.h"
#include "learn/reasons.h"

const char *question_name(const struct question *question)
{
    return question->is_uncertain ? "uncertain" : "strangest";
}

json_t *question_to_json(const struct question *question, const struct ranking *ranking,
                         const struct definitions *defs, const uint32_t *n_moved)
{
    char kind[REASON_SIZE];

    reasons_say(question->kind, &ranking->work.model, defs, kind);
    return json_pack("{s:s, s:o, s:o}", "asked_as", question_name(question), "kind",
                     json_text(kind), "moves", n_moved ? json_count(*n_moved) : json_null());
}
