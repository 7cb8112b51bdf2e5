// A history: its trend with the change in it, and any run against those before it.
import { accessible } from "./axe.mjs";
import { dragged, skips } from "./borders.mjs";
import { defects } from "./looks.mjs";
import { assert, openAnew, picturesAreRight, savedBy, until } from "./steps.mjs";

export const name = "history: a trend, where it changed, and a run against those before it";

const n = 12;
const changed = 9; /* number of the first run that is slower */

async function make(snag) {
    for (let i = 1; i <= n; i++) {
        const solve = i < changed ? "400us" : "520us";
        const program = `synth:60*step@20us(pack@100us solve@${solve});ranks=2;jitter=0.03;seed=${i}`;
        await snag("analyze", program, "--foi", "step", "-o", `r${i}.snag`);
        await snag("history", "add", "h.db", `r${i}.snag`, "--tag", `commit=c${i}`);
    }
    return ["h.db"];
}

export const options = { serve: make };

const trend = (page) => page.getByRole("region", { name: "Trend" });
const runs = (page) => page.getByRole("region", { name: "Runs", exact: true });
const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

async function open(page, server, state = "") {
    await openAnew(page, `${server.url}#${state}`);
    await trend(page).locator(".trend-point").first().waitFor();
}

async function theChangeIsSaidAndDrawn(page) {
    const picture = trend(page).getByRole("img");
    assert.match(
        await picture.getAttribute("aria-label"),
        /changed \+2\d\.\d % with number 9$/,
    );
    assert.equal(await trend(page).locator(".trend-point").count(), n);
    assert.equal(await trend(page).locator(".change-point").count(), 1);
    const at = await trend(page)
        .locator(".change-point")
        .evaluate((line) => Number(line.getAttribute("x1")));
    const points = await trend(page)
        .locator(".trend-point")
        .evaluateAll((all) => all.map((point) => Number(point.getAttribute("cx"))));
    assert.ok(points[changed - 2] < at && at < points[changed - 1], "between the two runs");
    const row = runs(page)
        .locator("tbody tr")
        .nth(n - changed);
    assert.match(await row.textContent(), /^9.*commit=c9.*step/);
}

async function aPathHasATrendOfItsOwn(page, server) {
    await trend(page).getByLabel("Call path").selectOption("step > pack");
    await until("pack is drawn", async () =>
        /^step > pack: .*no change is marked$/.test(
            await trend(page).getByRole("img").getAttribute("aria-label"),
        ),
    );
    assert.equal(hash(page).get("series") ?? "step > pack", "step > pack");
    await open(page, server, "series=step+%3E+solve");
    assert.match(
        await trend(page).getByRole("img").getAttribute("aria-label"),
        /^step > solve: .*changed \+\d\d/,
    );
}

async function aRunIsComparedWithThoseBefore(page, server) {
    await open(page, server);
    await runs(page).getByRole("button", { name: "9", exact: true }).click();
    const said = page.getByRole("region", { name: "Number 9 against those before" });
    await said.locator(".verdict", { hasText: "slower" }).first().waitFor();
    await said.locator(".difference .node").first().waitFor();
    assert.match(
        await said.locator(".changed-paths tbody th").first().textContent(),
        /^step > solve/,
    );
    await until("the run is in the link", () => hash(page).get("run") === "9");
    await trend(page).locator(".trend-point").nth(4).click();
    await page.getByRole("region", { name: "Number 5 against those before" }).waitFor();
    await page.goBack();
    await said.locator(".verdict", { hasText: "slower" }).first().waitFor();
    await page.keyboard.press("Escape");
    await until("nothing is compared", async () => (await said.count()) === 0);
    assert.equal(
        await runs(page).getByRole("button", { name: "1", exact: true }).count(),
        0,
        "the first run has none before it",
    );
}

export async function run({ page, server }) {
    await open(page, server);
    await theChangeIsSaidAndDrawn(page);
    assert.match(await page.locator("h1").textContent(), /^History /);
    await picturesAreRight(page, "Trend", /number of the run.*<circle[^>]*fill="rgb/s, (what) =>
        savedBy(page, what),
    );
    await aPathHasATrendOfItsOwn(page, server);
    await aRunIsComparedWithThoseBefore(page, server);
    await open(page, server);
    await dragged(page, "trend", "Height of Trend");
    await skips(page, "To the runs", "view-runs");
    for (const [width, height] of [
        [390, 844],
        [1280, 720],
    ]) {
        await page.setViewportSize({ width, height });
        await open(page, server);
        assert.deepEqual(await page.evaluate(defects), [], `${width} x ${height}`);
    }
    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await open(page, server, "run=9");
        await page.locator(".look-back .node").first().waitFor();
        await accessible(page, `history, ${colorScheme}`);
    }
}
