// An execution of one run above one of another: from their start, at one scale, coloured by how their call paths changed.
import { accessible } from "./axe.mjs";
import { assert, inked, openAnew, picturesAreRight, savedBy, until } from "./steps.mjs";

export const name = "comparison: two executions as aligned timelines";

/* Kernel takes 300 us in place of 200, check is new. The run after has fewer ranks, and fewer rounds. */
const program = (seed, { rounds, ranks, kernel, more = "" }) =>
    `synth:${rounds}*round(step@20us(pack@100us solve@200us(kernel@${kernel}${more}) build@80us) ` +
    `step@20us(pack@100us solve@200us(kernel@${kernel}${more})));ranks=${ranks};jitter=0.03;seed=${seed}`;
const before = { rounds: 40, ranks: 3, kernel: "200us" };
const after = { rounds: 30, ranks: 2, kernel: "300us", more: " check@60us" };

async function make(snag) {
    await snag("analyze", program(1, before), "--foi", "step", "-o", "base.snag");
    await snag("analyze", program(2, after), "--foi", "step", "-o", "new.snag");
    return ["base.snag", "new.snag"];
}

export const options = { serve: make };

const view = (page) => page.getByRole("region", { name: "Both timelines" });
const canvas = (page) => view(page).locator(".timeline-canvas");
const head = (page) => view(page).locator(".pair-head");
const chosen = (page) => view(page).locator(".pair-chosen");
const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

async function isHere(page) {
    await view(page).locator(".timeline-canvas[aria-busy=false]").waitFor();
    await until("lanes are drawn", async () => (await inked(page, ".timeline-canvas")) > 0.05);
}

async function open(page, server, state = "") {
    await openAnew(page, `${server.url}#${state}`);
    await isHere(page);
}

/* Columns of the executions of a run, as the API has them. */
function columnsOf(page, room) {
    return page.evaluate(async (at) => {
        const names = ["rank", "index", "duration_ns"];
        const url = `runs/${at}/api/v1/fois/1/columns?names=${names}`;
        const bytes = await (await fetch(url)).arrayBuffer();
        const length = new DataView(bytes).getUint32(4, true);
        const text = new TextDecoder().decode(new Uint8Array(bytes, 8, length));
        const types = { u32: Uint32Array, f64: Float64Array, u16: Uint16Array };
        return Object.fromEntries(
            JSON.parse(text).columns.map(({ name, type, n, offset }) => [
                name,
                [...new types[type](bytes, 8 + length + offset, n)],
            ]),
        );
    }, room);
}

function longest({ rank, index, duration_ns }) {
    const at = duration_ns.indexOf(Math.max(...duration_ns));
    return `#${rank[at]}-${index[at]}`;
}

/* Moves along a row of a lane until the hover box says that name. Rows count from the top of the lanes. */
async function hoverOn(page, pattern, y) {
    const box = await canvas(page).boundingBox();
    const hover = view(page).locator(".timeline-scroll .hover");
    for (let x = box.width - 8; x > 130; x -= 12) {
        await page.mouse.move(box.x + x, box.y + y);
        if (!(await hover.count())) continue;
        const text = await hover.textContent();
        if (pattern.test(text)) return { text, x: box.x + x, y: box.y + y };
    }
    throw new Error(`nothing says ${pattern} at ${y}`);
}

/* Of the lane at the top: its axis, the room above it, a row for each depth. round, step, solve, kernel. */
const yOfDepth = (depth) => 20 + 4 + 17 * depth + 8;

async function theSameExecutionOfBothIsShown(page, server) {
    await open(page, server);
    const text = await head(page).textContent();
    const [, idBefore, idAfter] =
        /before (#\d-\d+) of base.snag.*after (#\d-\d+) of new.snag/.exec(text) ?? [];
    assert.ok(idBefore, text);
    assert.equal(idBefore, idAfter, "same rank and number");
    assert.match(text, /\+1\d\d us, \+(2|3)\d\.\d %/);
    await open(page, server, "pair=same:0:3");
    assert.match(await head(page).textContent(), /#0-3 of base.snag .*#0-3 of new.snag/);
    const link = head(page).locator("a").last();
    assert.match(await link.getAttribute("href"), /^runs\/1\/#tree=\d+$/);
    const box = await canvas(page).boundingBox();
    assert.ok(box.height >= 200, `${box.height} pixels for lanes`);
}

async function hoveringSaysBoth(page) {
    const { text } = await hoverOn(page, /^kernel/, yOfDepth(3));
    assert.match(
        text,
        /on … > solve > kernel (19|20)\d us before \(1 call\), (29|30)\d us after \(1 call\): \+.* us, \+\d\d\.\d %/,
    );
    assert.match(text, /on average (199|200|201) us before, (299|30\d) us after/);
    const cursor = await view(page).locator(".pair-cursor").boundingBox();
    const lanes = await canvas(page).boundingBox();
    assert.ok(cursor.height >= lanes.height - 1, "it goes over the lanes of both");
}

async function aCallChoosesItsPathAndBack(page) {
    const { x, y } = await hoverOn(page, /^kernel/, yOfDepth(3));
    await page.mouse.click(x, y);
    const path = "step > solve > kernel";
    await until("it is in the link", () => hash(page).get("path") === path);
    assert.match(await chosen(page).textContent(), /^step > solve > kernel \d+ us before/);
    const icicle = page.getByRole("region", { name: "Difference" });
    await until(
        "it is marked in the icicle, before and after",
        async () => (await icicle.locator(".node.marked").count()) === 2,
    );
    const marks = (svg) => svg.match(/stroke-width="2"/g)?.length ?? 0;
    const svg = await picturesAreRight(page, "Both timelines", />kernel</, (what) =>
        savedBy(page, what),
    );
    assert.equal(marks(svg), 2, "one frame in each timeline");
    const dashed = svg.match(/stroke-dasharray="3 2"/g) ?? [];
    assert.equal(dashed.length, 1, "check has no counterpart");

    await icicle.locator(".node", { hasText: "pack" }).first().click();
    await until("the path of the icicle", async () =>
        /^step > pack \d+/.test(await chosen(page).textContent()),
    );
    assert.match(await chosen(page).textContent(), /before \(1 call\), .* after \(1 call\)/);
    assert.equal(marks(String(await savedBy(page, "Both timelines as SVG"))), 2);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await until("no path is chosen", () => hash(page).get("path") === null);
}

async function oneWindowForBoth(page, server) {
    await page.mouse.move(5, 5);
    const spanOf = () => hash(page).get("window")?.split(",").map(Number);
    await page.keyboard.press("w");
    await until("it is in the link", () => spanOf()?.length === 2);
    const [begin, end] = spanOf();
    await page.keyboard.press("a");
    await until("it is earlier", () => spanOf()[0] < begin);
    assert.ok(Math.abs(spanOf()[1] - spanOf()[0] - (end - begin)) <= 2);
    await page.keyboard.press("f");
    await until("both executions", () => !hash(page).has("window"));
    await page.keyboard.press("f");
    await until("both runs", () => spanOf()?.[0] < 0);
    const whole = spanOf();
    await open(page, server, `pair=same:0:3&window=${whole}`);
    assert.match(await canvas(page).getAttribute("aria-label"), /from -\d/);
    await page.keyboard.press("f");
    await until("both executions again", () => !hash(page).has("window"));
}

async function keysStep(page, server) {
    await open(page, server, "pair=same:0:3");
    await page.keyboard.press(".");
    await until("the next number", () => hash(page).get("pair") === "same:0:4");
    await page.keyboard.press("]");
    await until("the next rank", () => hash(page).get("pair") === "same:1:4");
    await page.keyboard.press("]");
    await page.keyboard.press(",");
    await until("there is no third rank after", () => hash(page).get("pair") === "same:1:3");
    await page.goBack();
    await until("back", () => hash(page).get("pair") === "same:1:4");
    await page.keyboard.press("p");
    await until("the longest", () => hash(page).get("pair") === "longest:0");
    const [a, b] = [longest(await columnsOf(page, 0)), longest(await columnsOf(page, 1))];
    await until("the longest of each", async () =>
        (await head(page).textContent()).match(`before ${a} of base.snag.*after ${b} of new`),
    );
    await view(page).getByLabel("Which executions").selectOption("same");
    await until("its number in both", () => /^same:\d:\d+$/.test(hash(page).get("pair")));
}

async function lanesAreChosen(page, server) {
    await open(page, server, "pair=same:0:3");
    const names = () => view(page).locator(".rank-name").allTextContents();
    assert.deepEqual(await names(), ["rank 0 before", "rank 0 after"]);
    await view(page).locator(".menu.ranks summary").click();
    await view(page).locator(".menu.ranks input").fill("0-2");
    await until("lanes of both", async () => (await names()).length === 5);
    await isHere(page);
    assert.deepEqual(await names(), [
        "rank 0 before",
        "rank 1 before",
        "rank 2 before",
        "rank 0 after",
        "rank 1 after",
    ]);
    await accessible(page, "both timelines, lanes are chosen");
    await page.keyboard.press("Escape");
    await view(page).locator(".menu.ranks:not([open])").waitFor();
    await page.keyboard.press("v");
    await until("rank by rank", async () => (await names())[1] === "rank 0 after");
    await until("it is in the link", () => hash(page).get("lanes-by") === "rank");
    assert.equal(hash(page).get("lanes"), "0-2");
    await open(page, server, String(hash(page)));
    assert.equal((await names())[3], "rank 1 after", "a link restores it");
}

async function whatIsNotThereIsSaid(page, server) {
    const says = async (state, text) => {
        await openAnew(page, `${server.url}#${state}`);
        await view(page).getByText(text).waitFor();
    };
    await says("pair=same:2:3", "On rank 2 new.snag has no execution: it has them on 2 ranks.");
    await says("pair=longest:200", "new.snag has 120 executions, so none has place 201.");
    await says(
        "pair=same:1:70",
        "On rank 1 new.snag has 60 executions, and none with number 70.",
    );
    await view(page).getByRole("button", { name: "Number 59, which both have" }).click();
    await until("that is shown", () => hash(page).get("pair") === "same:1:59");
    await isHere(page);
}

async function executionsLeadHere(page, server) {
    const strip = view(page).locator(".pair-strip canvas");
    await open(page, server, "pair=same:0:3");
    const box = await strip.boundingBox();
    await page.mouse.click(box.x + 134, box.y + 5);
    await until("a click in the whole run", () =>
        /^same:0:[012]$/.test(hash(page).get("pair")),
    );
    await open(page, server, "pair=same:0:3&tree=250"); /* of the run after: 240 before */
    await page.getByRole("button", { name: "In both timelines" }).click();
    await until("a point", () => hash(page).get("pair") === "same:0:10");
    await open(page, server, "pair=same:0:3&path=step+%3E+solve+%3E+check");
    const listed = page.getByRole("region", { name: "Executions" }).locator("li").first();
    const [, rank, number] = /#(\d)-(\d+)/.exec(await listed.textContent());
    await listed.getByRole("button", { name: / in both timelines$/ }).click();
    await until("one behind a path", () => hash(page).get("pair") === `same:${rank}:${number}`);
}

async function itFits(page, server) {
    for (const [width, height] of [
        [390, 844],
        [1280, 720],
        [1920, 1080],
    ]) {
        await page.setViewportSize({ width, height });
        await open(page, server, "pair=same:0:3");
        const [tools, lanes] = await view(page).evaluate((panel) => {
            const right = panel.getBoundingClientRect().right;
            const tools = [...panel.querySelectorAll(".panel-head :is(button, select, input)")];
            return [
                tools.filter((e) => e.getBoundingClientRect().right > right + 1).length,
                panel.querySelector(".timeline-scroll").clientHeight,
            ];
        });
        assert.equal(tools, 0, `${width} x ${height}`);
        assert.ok(lanes >= 150, `${lanes} pixels for lanes at ${width} x ${height}`);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
}

/* What is analysed for the comparison and forgotten has no calls to show. */
async function aTraceHasNone(page, startOwn) {
    const server = await startOwn(async (snag) => {
        await snag("analyze", program(2, after), "--foi", "step", "-o", "new.snag");
        return [program(1, before), "new.snag", "--foi", "step"];
    });
    try {
        await openAnew(page, server.url);
        await view(page)
            .getByText("There is no timeline of what is before: none of it is a run directory")
            .waitFor();
    } finally {
        await server.stop();
    }
}

export async function run({ page, server, startOwn }) {
    await theSameExecutionOfBothIsShown(page, server);
    await hoveringSaysBoth(page);
    await aCallChoosesItsPathAndBack(page);
    await oneWindowForBoth(page, server);
    await keysStep(page, server);
    await lanesAreChosen(page, server);
    await whatIsNotThereIsSaid(page, server);
    await executionsLeadHere(page, server);
    await itFits(page, server);
    await page.emulateMedia({ colorScheme: "dark" });
    await open(page, server, "pair=same:0:3&path=step+%3E+solve");
    await accessible(page, "both timelines, dark");
    await aTraceHasNone(page, startOwn);
}
