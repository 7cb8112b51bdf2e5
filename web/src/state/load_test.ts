// What the server tells of a function is taken whichever one is shown, and what is asked of it is of the function that was shown
// then.
import { asked, askedFor, settle, tell, useBrowser } from "../fake/browser";
import { bundle } from "../fake/bundle";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Foi, Run } from "../api/types";
import { retrain, startProjection, undo } from "./actions";
import { startLoading } from "./load";
import { executions, foi, foiId, labelsToLearn, moving, movingHere, planeName } from "./store";

const of = (id: number, toLearn: number) =>
    ({ id, name: `f${id}`, labels: { to_learn: toLearn }, projections: [] }) as unknown as Foi;

const runWith = (...fois: Foi[]) =>
    ({ name: "run", shows: "run", is_live: false, locations: [], fois }) as unknown as Run;

/* Of three executions. */
const columns = bundle(
    {
        columns: ["score", "verdict", "label"].map((name, i) => ({
            name,
            type: "u8",
            n: 3,
            offset: 3 * i,
        })),
    },
    new Uint8Array(9),
);

const run = runWith(of(1, 0), of(2, 0));

/* All that is asked for is there. */
async function answerAll(of: Run = run): Promise<void> {
    for (await settle(); asked.length; await settle())
        for (const it of [...asked])
            it.answer(
                it.path === "/run"
                    ? of
                    : it.path === "/regions"
                      ? []
                      : it.path === "/counters"
                        ? { items: [] }
                        : columns,
            );
}

test("functions that are not shown are kept up with, too", async () => {
    useBrowser();
    startLoading();
    await answerAll();
    assert.equal(executions.value?.n, 3);

    // Points are placed, of a function that is not shown any more when that ends.
    const tsne = { foi: 1, method: "tsne", iteration: 5, iterations: 10, cost: 0 };
    const started = startProjection("tsne");
    await settle();
    assert.equal(movingHere.value?.foi, 1, "at once");
    askedFor("/fois/1/projection").answer({}, 202);
    await started;
    tell("projection", { ...tsne, running: true });
    foiId.value = 2;
    await answerAll();
    assert.equal(moving.value?.iteration, 5);
    assert.equal(movingHere.value, null, "not those of this function");
    tell("projection", { ...tsne, running: false });
    assert.equal(moving.value, null);
    await answerAll();
    foiId.value = 1;
    await answerAll();
    assert.equal(movingHere.value, null);

    // What is refused does not move; an end that is told before the answer is one.
    const refused = startProjection("tsne");
    await settle();
    askedFor("/fois/1/projection").answer({ detail: "no" }, 409);
    await refused;
    assert.equal(moving.value, null);
    const quick = startProjection("pca");
    await settle();
    tell("projection", { ...tsne, method: "pca", running: false });
    askedFor("/fois/1/projection").answer({}, 202);
    await quick;
    await answerAll();
    assert.equal(moving.value, null);
    planeName.value = null;

    // Somebody labels another function: the run, which counts labels, is asked for anew.
    tell("labels", { foi: 2 });
    await answerAll(runWith(of(1, 0), of(2, 4)));
    foiId.value = 2;
    assert.equal(labelsToLearn.value, 4);
    foiId.value = 1;
    await answerAll();

    // What waits for its turn is of the function of which it was asked.
    const first = retrain();
    const second = undo();
    foiId.value = 2;
    await settle();
    askedFor("/fois/1/retrain").answer({ changes: [], abnormal: 1, normal: 1, anomalies: 0 });
    await settle();
    askedFor("/fois/1/undo").answer({ labels: 1 });
    await answerAll();
    await Promise.all([first, second]);
    assert.equal(foi.value?.id, 2);
});
