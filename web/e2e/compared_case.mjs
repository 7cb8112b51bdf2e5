// Runs that are compared: what changed is said, drawn and listed, leads to executions, and a link
// restores what is looked at.
import { accessible } from "./axe.mjs";
import { dragged, skips } from "./borders.mjs";
import { defects } from "./looks.mjs";
import { assert, openAnew, picturesAreRight, savedBy, until } from "./steps.mjs";

export const name = "comparison: what changed, where, and in which executions";

const program = (seed, solve, more) =>
    `synth:60*round(step@20us(pack@100us solve@200us(kernel@${solve}${more}) build@80us) ` +
    `step@20us(pack@100us solve@200us(kernel@${solve}${more})));ranks=2;jitter=0.03;seed=${seed}`;

/* Kernel takes 300 us in place of 200, check is new: +160 us of 560 us. */
async function make(snag) {
    for (const i of [1, 2, 3])
        await snag("analyze", program(i, "200us", ""), "--foi", "step", "-o", `b${i}.snag`);
    const after = program(4, "300us", " check@60us");
    await snag("analyze", after, "--foi", "step", "-o", "new.snag");
    return ["--base", "b1.snag", "--base", "b2.snag", "--base", "b3.snag", "new.snag"];
}

export const options = { serve: make };

const difference = (page) => page.getByRole("region", { name: "Difference" });
const paths = (page) => page.getByRole("region", { name: "Changed paths" });
const behind = (page) => page.getByRole("region", { name: "Executions" });
/* Of either side, where they have it. */
const nodeOf = (page, path) =>
    difference(page)
        .locator(".node")
        .filter({ has: page.locator("title", { hasText: new RegExp(`^${path}:`) }) });
const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

async function open(page, server, state = "") {
    await openAnew(page, `${server.url}#${state}`);
    await difference(page).locator(".node").first().waitFor();
    await page.locator(".scatter").waitFor();
}

async function theHeadSaysWhatTheTerminalSays({ page, server }) {
    const { stdout } = await server.snag("compare", ...(await argsOf(page)));
    const [first] = stdout.split("\n");
    const said = await page.locator(".compared-headline p").first().textContent();
    assert.ok(said.includes(first.replace("step: ", "")), `${said} is not ${first}`);
    assert.match(
        said,
        /slower: \+1\d\.\d % of the whole in solve > kernel \(\+[45]\d\.\d % of its own time\)/,
    );
}

async function argsOf(page) {
    const runs = await page.evaluate(async () =>
        (await fetch("api/v1/comparison/runs")).json(),
    );
    return runs.runs.flatMap(({ side, run }) => (side === "before" ? ["--base", run] : [run]));
}

/* Paths as wide as their times, both sides at one scale. */
async function theIcicleIsToScale(page) {
    const widths = await difference(page)
        .locator("svg")
        .evaluateAll((trees) =>
            trees.map((tree) =>
                Object.fromEntries(
                    [...tree.querySelectorAll(".node")].map((node) => [
                        node.querySelector("title").textContent.split(":")[0],
                        node.querySelector("rect").getBoundingClientRect().width,
                    ]),
                ),
            ),
        );
    const [before, after] = widths;
    assert.equal(before["step > solve > check"], undefined);
    assert.ok(after["step > solve > check"] > 0);
    const near = (a, b, what) => assert.ok(Math.abs(a / b - 1) < 0.05, `${what}: ${a}, ${b}`);
    near(after.step / before.step, 720 / 560, "the whole");
    near(after["step > solve > kernel"] / before["step > solve > kernel"], 1.5, "kernel");
}

async function aPathLeadsToItsExecutions(page) {
    await paths(page)
        .getByRole("button", { name: "step > solve > check", exact: true })
        .click();
    await behind(page).getByText("240 of 240 executions have it").waitFor();
    const none = behind(page).getByText("0 of 240 executions have it", { exact: true });
    await until("each run has answered", async () => (await none.count()) === 3);
    await until("it is in the link", () => hash(page).get("path") === "step > solve > check");
    await behind(page).locator("li a").first().click();
    await page.locator(".detail h1, .candidate").first().waitFor();
    assert.match(new URL(page.url()).pathname, /^\/runs\/3\/$/);
    await page.getByRole("region", { name: "Selected execution" }).locator("h1").waitFor();
    await page.goBack();
    await difference(page).locator(".node").first().waitFor();
    assert.equal(hash(page).get("path"), "step > solve > check");
}

async function aClickZoomsAndAnotherLeadsBack(page) {
    const node = (path) => nodeOf(page, path);
    const widthOf = async (path) =>
        Number(await node(path).last().locator("rect").getAttribute("width"));
    const whole = await widthOf("step");
    await node("step > solve").last().click();
    await until(
        "solve is as wide as all",
        async () => Math.abs((await widthOf("step > solve")) - whole) < 2,
    );
    assert.equal(await node("step > pack").count(), 0, "what is beside it is not drawn");
    await until("it is in the link", () => hash(page).get("zoomed") === "step > solve");
    await page.keyboard.press("Escape");
    await node("step > pack").first().waitFor();
}

async function keysReachPaths(page) {
    await nodeOf(page, "step > solve").last().press("Enter");
    await until("it is in the link", () => hash(page).get("zoomed") === "step > solve");
    await page.keyboard.press("Escape");
    await nodeOf(page, "step > pack").first().waitFor();
}

async function keysChooseAndTurn(page, server) {
    await open(page, server);
    const rows = paths(page).locator("tbody tr");
    await page.keyboard.press("j");
    await until("the first path is chosen", async () =>
        /chosen/.test(await rows.nth(0).getAttribute("class")),
    );
    await page.keyboard.press("j");
    await until("the second path is chosen", async () =>
        /chosen/.test(await rows.nth(1).getAttribute("class")),
    );
    assert.equal(await difference(page).locator("svg").count(), 2);
    await page.keyboard.press("x");
    await until("one side", async () => (await difference(page).locator("svg").count()) === 1);
    assert.match(await difference(page).locator("h3").textContent(), /^Before/);
}

async function theTableIsSorted(page) {
    const before = paths(page).getByRole("columnheader", { name: /^Before/ });
    await before.getByRole("button").click();
    assert.equal(await before.getAttribute("aria-sort"), "descending");
    await page.getByLabel(/all \d+ paths/).check();
    const first = paths(page).locator("tbody th").first();
    await until("the longest comes first", async () =>
        /solve|kernel/.test(await first.textContent()),
    );
    const download = page.waitForEvent("download");
    await paths(page).getByRole("button", { name: "CSV" }).click();
    assert.match((await download).suggestedFilename(), /-paths\.csv$/);
}

async function aLinkRestores(page, server) {
    const kind = "with step > build";
    const state = new URLSearchParams({
        kind,
        widths: "after",
        path: "step > build",
        paths: "all",
    });
    await open(page, server, state);
    assert.match(await difference(page).locator("h3").textContent(), /^After/);
    assert.equal(await page.getByLabel("Kind of execution").inputValue(), kind);
    assert.match(
        await nodeOf(page, "step > build").locator("title").textContent(),
        /build: (79|8\d)\.\d us before, (79|8\d)\.\d us after/,
    );
    await behind(page).getByText("120 of 240 executions have it").first().waitFor();
    await open(page, server);
    await page.getByRole("button", { name: kind, exact: true }).click();
    await until("the kind is in the link", () => hash(page).get("kind") === kind);
}

async function aPointLeadsToItsRun(page, server) {
    await open(page, server, "tree=725");
    const link = page.locator(".live-both .legend a");
    await link.waitFor();
    assert.equal(await link.getAttribute("href"), "runs/3/#tree=5");
}

/* Nothing stands out of the page, or of its panel. */
async function itFits(page, server) {
    for (const [width, height] of [
        [390, 844],
        [800, 600],
        [1280, 720],
        [1920, 1080],
        [3840, 2160],
    ]) {
        await page.setViewportSize({ width, height });
        await open(page, server, "path=step+%3E+solve");
        assert.deepEqual(await page.evaluate(defects), [], `${width} x ${height}`);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
}

export async function run({ page, server }) {
    await open(page, server);
    await theHeadSaysWhatTheTerminalSays({ page, server });
    assert.match(await page.locator("h1").textContent(), /^Comparison of /);
    await page.getByRole("region", { name: "What changed" }).waitFor();
    await theIcicleIsToScale(page);
    await picturesAreRight(
        page,
        "Difference",
        /Before 5\d\d us.*<rect[^>]*fill="rgb.*After 7\d\d us.*>▲ kernel/s,
        (what) => savedBy(page, what),
    );
    await keysReachPaths(page);
    await aPathLeadsToItsExecutions(page);
    await aClickZoomsAndAnotherLeadsBack(page);
    await keysChooseAndTurn(page, server);
    await theTableIsSorted(page);
    await aLinkRestores(page, server);
    await aPointLeadsToItsRun(page, server);
    await itFits(page, server);
    await open(page, server);
    await dragged(page, "difference", "Height of Difference, Both runs");
    await skips(page, "To the changed paths", "view-paths");
    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await open(page, server, "path=step+%3E+solve&paths=all");
        await behind(page).locator("li a").first().waitFor();
        await accessible(page, `comparison, ${colorScheme}`);
    }
}
