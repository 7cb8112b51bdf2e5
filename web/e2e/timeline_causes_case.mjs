// The answer first: a line that says what the run comes to, and incidents listed by cause, each of which opens to its
// incidents, and these to their executions.
import { accessible } from "./axe.mjs";
import {
    assert,
    candidates,
    detail,
    filterBy,
    loaded,
    openAnew,
    selectedId,
    until,
} from "./steps.mjs";

export const name = "the answer first: what the run comes to; incidents by cause";

const pick = (page, n) => candidates(page).nth(n).locator(".pick");
const incidents = (page) => page.locator(".one-incident > .pick-member");
const isSelected = (page, id) =>
    page.locator(".detail h1", { hasText: new RegExp(`^${id} `) }).waitFor();

async function ask(page, path) {
    return page.evaluate(async (at) => (await fetch(`api/v1/${at}`)).json(), path);
}

/* Three digits and a unit, as the page has it. */
function time(ns) {
    const [scale, unit] =
        ns >= 999.5e6 ? [1e9, "s"] : ns >= 999.5e3 ? [1e6, "ms"] : [1e3, "us"];
    const x = ns / scale;
    return `${x.toFixed(x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2)} ${unit}`;
}

/* As `snag analyze` says it: its figures, and its words for what most of it goes back to. */
async function theAnswerIsFirst(page) {
    const { fois } = await ask(page, "run");
    const { anomalies, trees, name: foi, outcome } = fois[0];
    const line = page.locator(".run-summary");
    const text = await line.textContent();
    assert.ok(
        text.startsWith(`${anomalies} anomalies in ${trees} executions of ${foi}. `),
        text,
    );
    assert.ok(outcome.cost_ns > 0 && outcome.most);
    const saved = `${time(outcome.cost_ns)} of ${time(outcome.length_ns)} shorter (`;
    assert.ok(text.includes(`Without the anomalies the replayed run is ${saved}`), text);
    assert.ok(text.includes(`; ${outcome.most.text}`), text);
    assert.match(await line.getAttribute("title"), /goes back to rank 2/);
    const box = await line.boundingBox();
    const list = await page.locator(".candidates").boundingBox();
    assert.ok(box.y + box.height <= list.y, "it is above all else");
    const { lineHeight, fontSize } = await line.evaluate((e) => getComputedStyle(e));
    const one = parseFloat(lineHeight) || 1.5 * parseFloat(fontSize);
    for (const [width, most] of [
        [1280, 2],
        [700, 3],
        [2000, 1],
    ]) {
        await page.setViewportSize({ width, height: 720 });
        await until(
            `at most ${most} lines where it is ${width} wide`,
            async () => (await line.boundingBox()).height < (most + 0.5) * one,
        );
    }
    await page.setViewportSize({ width: 1280, height: 720 });
}

/* An entry says what its own incidents are, how often, where and at what cost: no number twice, and no anomaly "typical". */
async function entriesSayTheirOwn(page, items) {
    assert.equal(await candidates(page).count(), items.length);
    for (const [n, item] of items.entries()) {
        const text = await pick(page, n).innerText();
        const isOne = item.incidents.length === 1;
        const reason = isOne ? [item.first.what, item.first.cause] : [item.what];
        assert.ok(
            reason.some((said) => said && text.includes(said)),
            `${n}: ${text} is not of ${reason}`,
        );
        if (!isOne) assert.ok(text.includes(item.where), text);
        const numbers = text.match(/\b[\d.]+ (?:ns|us|ms|s)\b/g) ?? [];
        assert.equal(new Set(numbers).size, numbers.length, `${text} says a number twice`);
        if (item.verdict === "anomaly") assert.doesNotMatch(text, /typical\s*$|as usual/m);
    }
    const marks = pick(page, 0).locator(".recurrence rect");
    assert.equal(await marks.count(), items[0].incidents.length, "a mark for each time");
    const costs = items.filter((i) => i.verdict === "anomaly").map((i) => i.cost_ns ?? 0);
    assert.deepEqual(
        costs,
        [...costs].sort((a, b) => b - a),
        "what costs most is first",
    );
}

async function opensToIncidentsAndThese(page, group, members) {
    assert.equal(await selectedId(page), group.first.head);
    assert.equal(await pick(page, 0).getAttribute("aria-expanded"), "true");
    await until(
        "a line for each incident",
        async () => (await incidents(page).count()) === members.length,
    );
    const second = members[1];
    const line = incidents(page).filter({ hasText: second.head });
    await line.click();
    await isSelected(page, second.head);
    assert.equal(await page.locator(".one-incident .members").count(), 0, "still folded");
    await line.click();
    const executions = page.locator(".one-incident .members .pick-member");
    await until(
        "a line for each execution",
        async () => (await executions.count()) === second.members.length,
    );
    const other = second.members.find((id) => id !== second.head);
    await executions.filter({ hasText: other }).click();
    await isSelected(page, other);
    assert.match(await detail(page).textContent(), new RegExp(`incident ${second.id}`));
    await accessible(page, "a cause, open");
    return second;
}

/* Enter folds and opens; J and K go from cause to cause; arrows along all that is open. */
async function worksByKeyboard(page, items) {
    await page.keyboard.press("j");
    await isSelected(page, items[1].first.head);
    await page.keyboard.press("k");
    await isSelected(page, items[0].first.head);
    await pick(page, 0).focus();
    await page.keyboard.press("Enter");
    await until("folded", async () => (await incidents(page).count()) === 0);
    await page.keyboard.press("Enter");
    await incidents(page).first().waitFor();
    await page.keyboard.press("ArrowDown");
    const focused = () => page.evaluate(() => document.activeElement.className);
    assert.equal(await focused(), "pick-member");
}

async function linksRestore(page, server, second) {
    const at = second.member_trees.findIndex((tree) => tree !== second.head_tree);
    await openAnew(page, `${server.url}#tree=${second.member_trees[at]}&views=why`);
    await loaded(page);
    const marked = page.locator('.one-incident .members .pick-member[aria-pressed="true"] .id');
    await marked.waitFor();
    assert.equal(await marked.textContent(), second.members[at]);
}

async function filtersAct(page) {
    const { total } = await ask(page, "fois/1/causes?rank=3");
    await filterBy(page, "Rank", "3");
    const head = page.locator(".candidates h2");
    await head.filter({ hasText: new RegExp(`\\b${total} entr(y|ies)$`) }).waitFor();
    await filterBy(page, "Rank", "");
    await filterBy(page, "Label", "abnormal");
    await page.getByText("No incident is like that").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await candidates(page).first().waitFor();
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1280, height: 720 });
    await openAnew(page, `${server.url}#views=why`);
    await loaded(page);
    await theAnswerIsFirst(page);
    const { items } = await ask(page, "fois/1/causes?limit=50");
    const [group] = items;
    assert.ok(group.incidents.length > 1, "the dearest cause has several incidents");
    const { items: members } = await ask(
        page,
        `fois/1/incidents?verdict=anomaly&group=${group.group}`,
    );
    assert.equal(members.length, group.incidents.length);
    await entriesSayTheirOwn(page, items);
    const second = await opensToIncidentsAndThese(page, group, members);
    await worksByKeyboard(page, items);
    await filtersAct(page);
    await linksRestore(page, server, second);
}
