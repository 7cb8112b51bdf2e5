// Reports on several runs, opened as files: what changed as call paths before and after, the trend of
// a history with its change; they ask for nothing, and without scripts the tables say the same.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { accessible } from "./axe.mjs";

export const name = "reports on what changed between runs, and on a history";

const n = 18;
const changed = 10; /* number of the first run that is slower */

function make(place) {
    const snag = (...args) => {
        const { status, stderr } = spawnSync(process.env.SNAG, args, {
            encoding: "utf8",
            cwd: place,
        });
        assert.equal(status, 0, `snag ${args.join(" ")}: ${stderr}`);
    };
    for (let i = 1; i <= n; i++) {
        const solve = i < changed ? "400us" : "520us";
        const many = Array.from({ length: 300 }, (_, k) => `f${k}@100ns`).join(" ");
        const program = `synth:40*step@20us(pack@100us(${many}) solve@${solve}(kernel@200us));ranks=2;jitter=0.02;seed=${i}`;
        snag("analyze", program, "--foi", "step", "-o", `r${i}.snag`, "--quiet");
        snag("history", "add", "h.db", `r${i}.snag`, "--tag", `commit=c${i}`);
    }
    snag("report", "h.db", "-o", "history.html");
    snag("report", "r1.snag", `r${n}.snag`, "-o", "change.html");
    return path.join(place, "change.html");
}

export const options = { file: make };

const difference = (page) => page.locator('figure[data-view="difference"].drawn');
const trend = (page) => page.locator('figure[data-view="trend"].drawn');

/* The widths of the paths on one side, as drawn, by their names. */
function widthsOf(page, side) {
    return difference(page)
        .locator("svg")
        .nth(side)
        .locator(".node")
        .evaluateAll((all) =>
            Object.fromEntries(
                all.map((node) => [
                    node.querySelector("title").textContent.split(":")[0],
                    node.querySelector("rect").getBoundingClientRect().width,
                ]),
            ),
        );
}

function isNear(a, b, what) {
    assert.ok(Math.abs(a / b - 1) < 0.05, `${what}: ${a}, ${b}`);
}

async function whatChangedIsDrawnToScale(page) {
    const [before, after] = [await widthsOf(page, 0), await widthsOf(page, 1)];
    isNear(after["step > solve"] / before["step > solve"], 720 / 600, "solve");
    isNear(after["step > solve > kernel"] / before["step > solve > kernel"], 1, "kernel");
    isNear(
        after["step > pack > 300 more call paths"] / after["step > pack"],
        0.23,
        "small ones",
    );
    assert.equal(after["step > pack > f7"], undefined);
    const solve = difference(page)
        .locator("svg")
        .nth(1)
        .locator(".node")
        .filter({ hasText: "▲ solve" });
    assert.match(
        await solve.locator("title").textContent(),
        /step > solve: 60\d us before, 7[12]\d us/,
    );
}

async function aClickZoomsAndAnotherLeadsBack(page) {
    const node = (name) =>
        difference(page)
            .locator(".node")
            .filter({ has: page.locator("title", { hasText: new RegExp(`^${name}:`) }) });
    const whole = (await widthsOf(page, 1)).step;
    await node("step > solve").last().click();
    await node("step > pack").first().waitFor({ state: "detached" });
    isNear((await widthsOf(page, 1))["step > solve"], whole, "solve fills it");
    assert.equal(await node("step > pack").count(), 0);
    await node("step > solve").last().press("Enter");
    await node("step > pack").last().waitFor();
    assert.equal(await node("step > pack").count(), 2);
}

async function theTrendShowsTheChange(page) {
    const whole = trend(page).first();
    assert.match(
        await whole.getByRole("img").getAttribute("aria-label"),
        new RegExp(`^step: ${n} runs, .*; changed \\+1\\d\\.\\d % with number ${changed}$`),
    );
    assert.equal(await whole.locator(".trend-point").count(), n);
    assert.equal(await whole.locator(".change-point").count(), 1);
    assert.match(
        await trend(page).nth(1).getByRole("img").getAttribute("aria-label"),
        new RegExp(`^step > solve: .*changed \\+[23]\\d\\.\\d % with number ${changed}$`),
    );
}

/* Nothing is wider than the paper or the screen. */
async function itFits(page) {
    for (const [width, media] of [
        [1280, "screen"],
        [390, "screen"],
        [688, "print"],
    ]) {
        await page.emulateMedia({ media, colorScheme: "light" });
        await page.setViewportSize({ width, height: 900 });
        const wide = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assert.ok(wide <= 0, `${media}, ${width} px: ${wide} px too wide`);
    }
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize({ width: 1280, height: 720 });
}

async function isAccessible(page, what) {
    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await accessible(page, `${what}, ${colorScheme}`);
    }
}

async function theTablesSayItWithoutScripts(context, url, expected) {
    const plain = await context.browser().newContext({ javaScriptEnabled: false });
    const page = await plain.newPage();
    await page.goto(url);
    const text = await page.locator("main").innerText();
    for (const said of expected) assert.match(text, said);
    assert.equal(await page.locator("figure:visible").count(), 0);
    await plain.close();
}

export async function run({ page, server, context }) {
    const asked = [];
    const said = [];
    const history = String(pathToFileURL(path.join(path.dirname(server.file), "history.html")));
    const change = page.url();
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => said.push(message.text()));
    await context.setOffline(true);
    await page.reload();

    await whatChangedIsDrawnToScale(page);
    await aClickZoomsAndAnotherLeadsBack(page);
    assert.ok((await page.locator('figure[data-view="points"].drawn').count()) === 1);
    await itFits(page);
    await isAccessible(page, "what changed");
    await theTablesSayItWithoutScripts(context, change, [
        /step: \+1\d\.\d %/,
        /step > solve\s+slower/,
    ]);

    await page.goto(history);
    await theTrendShowsTheChange(page);
    assert.equal(await difference(page).locator("svg").count(), 2);
    await itFits(page);
    await isAccessible(page, "history");
    await theTablesSayItWithoutScripts(context, history, [/Where it changed/, /commit=c10/]);

    for (const url of [change, history]) {
        assert.ok((await stat(fileURLToPath(url))).size < 400000);
        assert.equal(await page.locator("figure:not(.drawn)").count(), 0);
    }
    assert.deepEqual([...new Set(asked)].sort(), [change, history].sort());
    assert.deepEqual(said, []);
}
