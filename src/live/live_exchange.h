/*
 * live_exchange -- what one instance and the parameter server tell each other every step.
 *
 *     live_exchange_calls(x, defs, ..)          how many calls there were, counters;
 *                                               and with it
 *     live_exchange_models(x, &models, defs)    what was learnt in the step goes out, what all
 *                                               have learnt comes in
 *     live_exchange_anomalies(x, &step)         with the next step
 *
 * What judges a call is then
 *
 *     rounds         the server's model, which has all instances' steps up to this one
 *     frozen server  the server's model, whatever is learnt here
 *     otherwise      the server's model and what it has not received from us yet; or, where
 *                    that is less than what was read here, what was read here
 *
 * The last is right from the first step on, also while the server is away, and no call is in it
 * twice. What the server received but has not published yet is missing from it, for as long as
 * it takes to publish.
 */
#ifndef SNAG_LIVE_LIVE_EXCHANGE_H
#define SNAG_LIVE_LIVE_EXCHANGE_H

#include "live/ad.h"
#include "ps/ps_client.h"

struct live_exchange_opts {
    struct ps_client *client;
    const char *program;   /* the name of the functions' program to the server */
    bool has_rounds;       /* a deterministic client */
    bool (*is_told)(void); /* to end: asked while we wait for a round; or NULL */
};

struct live_exchange;

struct live_exchange *live_exchange_new(const struct live_exchange_opts *opts);
void live_exchange_free(struct live_exchange *x);

/* live_exchange_models -- between learning and fitting. With rounds this waits for the others.
 */
void live_exchange_models(struct live_exchange *x, struct live_models *models,
                          const struct definitions *defs);

/*
 * live_exchange_calls -- before the models, so that whatever is told has as many calls in one
 * as in the other, also of an instance that is killed then.
 *   calls  (n_locations) of the step
 */
void live_exchange_calls(struct live_exchange *x, const struct definitions *defs,
                         const struct calls *calls, uint32_t n_locations);

/* live_exchange_anomalies -- when the step was judged. */
void live_exchange_anomalies(struct live_exchange *x, const struct ad_step *step);

/*
 * live_exchange_number -- what a model's function is called by in all that is stored of it: the
 * server's number as it is when this is first asked; or, where there is none yet, or another
 * model has it (of a server that was started anew), LIVE_OWN_NUMBER and the model.
 * Two models never have the same, and no model ever has another one, whatever the server says
 * later.
 *   function  of the model, or PS_NO_INDEX
 */
#define LIVE_OWN_NUMBER 0x80000000u
uint32_t live_exchange_number(struct live_exchange *x, uint32_t model, uint32_t function);

/* live_exchange_has_shared -- whether anything was judged by what other instances had read. */
bool live_exchange_has_shared(const struct live_exchange *x);

/*
 * live_exchange_finish -- wait until the server has all that was said, for at most timeout_ms.
 * Returns false if it has not.
 */
bool live_exchange_finish(struct live_exchange *x, int timeout_ms);

#endif
