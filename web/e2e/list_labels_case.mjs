// Labels and retrains are undone and redone on the server: after a reload, from another tab, back to
// where nothing was labelled. And the list says why each execution is asked about.
import { assert, candidates, loaded, told, until } from "./steps.mjs";

export const name = "labels: undone and redone from any page, and questions that say why";

const button = (page, of) =>
    page.locator(".actions").getByRole("button", { name: of, exact: true });

async function runOf(server) {
    return (await fetch(new URL("api/v1/run", server.url))).json();
}

/* How many verdicts are anomalies, what is to be learnt and what can be undone. */
async function standing(server) {
    const { fois } = await runOf(server);
    const { anomalies, labels, undo, redo } = fois[0];
    return [anomalies, labels.to_learn, undo?.kind ?? null, redo?.kind ?? null];
}

export async function run({ page, server, context }) {
    await loaded(page);
    const [atFirst] = await standing(server);
    assert.deepEqual(await standing(server), [atFirst, 0, null, null]);
    assert.ok(await button(page, "Undo").isDisabled());
    const retrain = button(page, /^Retrain/);

    // A label that is taken back leaves nothing to learn.
    await told(page, /labelled normal/, () => page.keyboard.press("n"));
    await until("one to learn", async () => /\(1\)/.test(await retrain.textContent()));
    await told(page, /removed/, () => page.keyboard.press("n"));
    await until("nothing to learn", async () => (await retrain.textContent()) === "Retrain");
    await told(page, /as before/, () => page.keyboard.press("u"));
    await until("one to learn", async () => /\(1\)/.test(await retrain.textContent()));
    await page.keyboard.press("u");
    await until(
        "nothing is labelled",
        async () => String(await standing(server)) === String([atFirst, 0, null, "labels"]),
    );
    await until("it is done", async () => (await retrain.textContent()) === "Retrain");

    // Labelled and learnt; another tab sees it, and takes it back after a reload.
    await told(page, /labelled normal/, () => page.keyboard.press("n"));
    await told(page, /Learnt from 1 label/, () => page.keyboard.press("r"));
    const [learnt] = await standing(server);
    assert.notEqual(learnt, atFirst);
    const outcome = page.locator(".run-summary");
    await outcome
        .filter({ hasText: /at most .* shorter \(.*\): labels have changed/ })
        .waitFor();
    const other = await context.newPage();
    await other.addInitScript(() => localStorage.setItem("snag-tour-seen", "1"));
    await other.goto(server.url);
    await loaded(other);
    assert.equal(
        await button(other, "Undo").getAttribute("title"),
        "Undo the last retrain (U)",
    );
    await told(other, /The ranking is as before/, () => other.keyboard.press("u"));
    await other.reload();
    await loaded(other);
    await told(other, /Label of 1 execution as before/, () => button(other, "Undo").click());
    assert.deepEqual(await standing(server), [atFirst, 0, null, "labels"]);
    assert.equal(
        await other.getByRole("button", { pressed: true, name: /^Normal #/ }).count(),
        0,
    );
    await until("the first tab knows", () => button(page, "Undo").isDisabled());
    await outcome.filter({ hasText: /the replayed run is [\d.]+ ms of .* shorter/ }).waitFor();
    await told(other, /nothing to undo/, () => other.keyboard.press("u"));

    // Done again, from the first tab: exactly as it was.
    await told(page, /Label of 1 execution given again/, () => page.keyboard.press("y"));
    await until("one to learn", async () => /\(1\)/.test(await retrain.textContent()));
    await told(page, /Learnt again/, () => page.keyboard.press("y"));
    assert.deepEqual(await standing(server), [learnt, 0, "retrain", null]);
    await until("the other tab knows", () => button(other, "Redo").isDisabled());
    await other.close();

    // Questions.
    await page.getByLabel("Order").selectOption("next");
    const reasons = page.locator(".candidate .why", { hasText: /^Asked because/ });
    await reasons.first().waitFor();
    const n = await candidates(page).count();
    assert.equal(await reasons.count(), n);
    for (const text of await reasons.allTextContents())
        assert.match(text, /of its kind, ".+"|leaves it open whether ".+" matters/);

    // More of them are others.
    await page.getByRole("button", { name: /^Show \d+ more/ }).click();
    await until("there are more", async () => (await candidates(page).count()) > n);
    const texts = await candidates(page).allTextContents();
    assert.equal(new Set(texts.map((text) => /#[\d.]+-\d+/.exec(text)[0])).size, texts.length);
}
