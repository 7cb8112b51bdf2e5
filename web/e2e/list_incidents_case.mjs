// Incidents: what was strange together is one entry, which opens to its executions.
import { accessible } from "./axe.mjs";
import {
    assert,
    candidates,
    detail,
    filterBy,
    listed,
    loaded,
    openAnew,
    selectedId,
    stateOf,
    told,
    until,
} from "./steps.mjs";

export const name =
    "incidents: what was strange together is one entry, and opens to its executions";

const open = (page) => page.locator('.incident .pick[aria-expanded="true"]');
const members = (page) => page.locator(".members .pick-member");
const isSelected = (page, id) =>
    page.locator(".detail h1", { hasText: new RegExp(`^${id} `) }).waitFor();

async function choose(page, name, value) {
    if (name !== "Order") return filterBy(page, name, value);
    await page.getByRole("combobox", { name, exact: true }).selectOption(value);
}

async function ask(page, asked) {
    return page.evaluate(async (path) => {
        const { fois } = await (await fetch("api/v1/run")).json();
        return (await fetch(`api/v1/fois/${fois[0].id}/${path}`)).json();
    }, asked);
}

const incidents = (page, query) => ask(page, `incidents?${query}`);

/* Of what lost most: its numbers, its executions, and that each can be selected and labelled. */
async function opensToItsExecutions(page, first) {
    const entry = candidates(page).first();
    assert.equal(await selectedId(page), first.head, "the head of the first is selected");
    const text = await entry.textContent();
    assert.match(text, /▲ anomaly/);
    assert.match(text, /(costs the run| lost).*at .*executions? on \d+ ranks?/s);
    assert.ok(text.includes(first.what), "why, in short");
    const own = /^#(\d+)/.exec(first.head)[1] === String(first.rank);
    assert.equal(/caused by rank/.test(text), !own, "a rank is said where it is another");
    const ids = await members(page).locator(".id").allTextContents();
    assert.deepEqual([...ids].sort(), [...first.members].sort());
    assert.equal(ids[0], first.head, "the head is the first of them");
    assert.equal(await page.locator(".members .is-head").count(), 1);

    await page
        .locator(".panel-why")
        .getByText(/incident 1: head #/i)
        .waitFor();
    const said = await page.locator(".details").textContent();
    assert.equal(
        said.match(/ by chance/g).length,
        1,
        "how likely chance does that is said once",
    );
    const costs = await detail(page).locator(".facts").textContent();
    assert.match(costs, /alone costs the run .*head of incident 1, cost .* in all/);
    assert.match(text, /costs the run .* in all/);
    assert.equal(await page.locator(".members-head").first().textContent(), "took");
    const { text: inAll } = await ask(page, "lost");
    const foot = page.locator(".lost-in-all");
    assert.ok((await foot.getAttribute("title")).startsWith(inAll), "as snag analyze says it");
    const [, lost, took] = /^lost in all: (.*?) of (.*?) \(/.exec(inAll);
    assert.match(await foot.textContent(), /^All [\d,]+ executions lost /);
    assert.ok((await foot.textContent()).endsWith(` lost ${lost} of ${took}`));
    await members(page).nth(1).click();
    await isSelected(page, ids[1]);
    assert.match(await detail(page).textContent(), /part of incident 1/);
    assert.equal(await open(page).count(), 1, "it stays open");
    await told(page, /labelled normal/, () =>
        page
            .locator(".members")
            .getByRole("button", { name: `Normal ${ids[1]}`, exact: true })
            .click(),
    );
    assert.equal(await stateOf(page, ids[1], "Normal"), "true");
    await told(page, /as before/, () => page.keyboard.press("u"));
    await page.getByRole("button", { name: "Look at its head" }).click();
    await isSelected(page, first.head);
}

/* Enter opens and folds an entry; J and K go from one incident to the next. */
async function worksByKeyboard(page, items) {
    const pick = candidates(page).first().locator(".pick");
    await pick.focus();
    await page.keyboard.press("Enter");
    assert.equal(await open(page).count(), 0, "folded");
    await page.keyboard.press("Enter");
    assert.equal(await open(page).count(), 1);
    await members(page).nth(1).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("j");
    await isSelected(page, items[1].head);
    await page.keyboard.press("k");
    await isSelected(page, items[0].head);
}

/* Of an execution that is no head: its incident is open, and the line is marked. */
async function linksRestore(page, server, first) {
    const at = first.member_trees.findIndex((tree) => tree !== first.head_tree);
    await openAnew(
        page,
        `${server.url}#tree=${first.member_trees[at]}&views=why&list=:::incidents`,
    );
    await loaded(page);
    const marked = page.locator('.members .pick-member[aria-pressed="true"] .id');
    await marked.waitFor();
    assert.equal(await marked.textContent(), first.members[at]);
}

async function filtersAct(page, first) {
    await choose(page, "Verdict", "anomaly");
    await page.waitForFunction(() => !document.querySelector(".incident.normal"));
    await page.waitForFunction(() => /list=%3Aanomaly/.test(location.hash));
    await choose(page, "Verdict", "");
    const rank = first.ranks.at(-1);
    const { total, items } = await incidents(page, `rank=${rank}`);
    await choose(page, "Rank", String(rank));
    await page
        .locator(".candidates h2", { hasText: new RegExp(`\\b${total} incidents?`) })
        .waitFor();
    assert.deepEqual(
        await listed(page),
        items.map(({ head }) => head),
    );
    await choose(page, "Rank", "");
    await choose(page, "Label", "abnormal");
    await page.getByText("No incident is like that").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await candidates(page).first().waitFor();
    await choose(page, "Rank", String(rank));
    await choose(page, "Order", "next");
    await page.waitForFunction(() => /list=.*next/.test(location.hash));
    await page.getByText("Questions are about all executions.").waitFor();
    await page.getByRole("button", { name: "All ranks" }).click();
    await choose(page, "Order", "incidents");
    await page.locator(".candidates h2", { hasText: /incidents?/ }).waitFor();
}

/* What is not fetched anew would still show the verdicts from before. */
async function learningFetchesAnew(page, server) {
    const [request] = await Promise.all([
        page.waitForRequest(/incidents\?/),
        (async () => {
            await told(page, /labelled/, () => page.keyboard.press("b"));
            await told(page, /Learnt from/, () => page.keyboard.press("r"));
        })(),
    ]);
    assert.equal(new URL(request.url()).searchParams.get("offset"), "0");
    await told(page, /as before/, () => page.keyboard.press("u"));
}

/* What is strange in the same way is one entry, which one act labels and one undo takes back. */
async function groupsAreLabelledAtOnce(page) {
    const before = (await ask(page, "groups")).items;
    const group = before.find(({ members }) => members.length > 1);
    const abnormal = async () =>
        (await ask(page, "groups")).items.find(({ id }) => id === group.id).abnormal;
    await choose(page, "Order", "groups");
    await page.locator(".candidates h2", { hasText: / groups?$/ }).waitFor();
    assert.equal(await candidates(page).count(), before.length);
    const entry = candidates(page).filter({ hasText: group.text });
    await entry.locator(".pick").click();
    await until(
        "it opens to its executions",
        async () =>
            (await entry.locator(".pick-member").count()) ===
            Math.min(12, group.members.length),
    );
    const all = entry.getByRole("button", { name: /All abnormal/ });
    await told(page, new RegExp(`^${group.members.length} executions labelled abnormal`), () =>
        all.click(),
    );
    assert.equal(await abnormal(), group.members.length);
    assert.equal(await all.getAttribute("aria-pressed"), "true");
    await accessible(page, "groups");
    await told(page, /as before/, () => page.keyboard.press("u"));
    assert.equal(await abnormal(), group.abnormal);
    await choose(page, "Order", "incidents");
}

async function fitsHalfAScreen(page) {
    for (const width of [800, 1400]) {
        await page.setViewportSize({ width, height: 900 });
        const outside = await page.evaluate(() => {
            const frame = document.querySelector(".candidates").getBoundingClientRect();
            return [...document.querySelectorAll(".candidates button, .top button")]
                .map((button) => [button.textContent, button.getBoundingClientRect()])
                .filter(([, box]) => box.right > innerWidth || box.left < frame.left)
                .concat(
                    [...document.querySelectorAll(".candidates button")]
                        .map((button) => [button.textContent, button.getBoundingClientRect()])
                        .filter(([, box]) => box.right > frame.right),
                )
                .map(([text]) => text);
        });
        assert.deepEqual(outside, [], `${width} wide`);
        await accessible(page, `${width} wide`);
    }
}

/* Of an execution that is an incident by itself the list and the detail say the same cost; what may be nothing says so; of a
   call that typical executions do not have there is no typical number. */
async function saysWhatMayBeNothing(page, server) {
    const of = /\/executions\/\d+$/;
    await page.route(of, async (route) => {
        const answer = await (await route.fetch()).json();
        const alone = { members: [answer.id], member_trees: [answer.tree], ranks: [0] };
        const range = { lost_ns: 40e6, cost_ns: 30e6, cost_least_ns: 0, cost_most_ns: 30e6 };
        Object.assign(answer, { cost_ns: 30e6, cost_is_bound: false });
        answer.incident = { ...answer.incident, ...alone, ...range };
        const differences = [0, 2].map((usual) => ({
            function: `step > rare_${usual}`,
            calls: 3,
            usual_least: usual,
            usual_most: usual,
        }));
        answer.structure = { function: "step", differences, order: null };
        await route.fulfill({ json: answer });
    });
    await openAnew(page, `${server.url}#views=why,structure&list=:::incidents`);
    await loaded(page);
    const facts = await detail(page).locator(".facts").textContent();
    assert.match(facts, /costs the run at most 30.0 ms/);
    const why = page.locator(".panel-why");
    await why.getByText("rare_0: 3 calls, not in a typical execution").waitFor();
    await why.getByText("rare_2: 3 calls, typical 2").waitFor();
    await page
        .locator(".panel-structure .legend")
        .getByText("takes longer than is typical, by 5 % of the execution or more, or is rare")
        .waitFor();
    await page.unroute(of);
}

export async function run({ page, server }) {
    await openAnew(page, `${server.url}#views=why&list=:::incidents`);
    await loaded(page);
    const { items } = await incidents(page, "limit=50");
    const first = items[0];
    assert.deepEqual(
        await listed(page),
        items.map(({ head }) => head),
        "those that lost most first",
    );
    assert.ok(first.members.length > 1, "the run's first incident has several executions");
    await opensToItsExecutions(page, first);
    await worksByKeyboard(page, items);
    await filtersAct(page, first);
    await linksRestore(page, server, first);
    await fitsHalfAScreen(page);
    await learningFetchesAnew(page, server);
    await groupsAreLabelledAtOnce(page);
    await saysWhatMayBeNothing(page, server);
}
