// A program that was watched to its end: its page stays, and is all there is to look at.
import { accessible } from "./axe.mjs";
import { dragged, skips } from "./borders.mjs";
import { assert, inked, until } from "./steps.mjs";

export const name = "live: the finished run stays, and can be looked through";
export const options = {
    live: {
        program:
            "synth:12000*step(compute@1ms(a 3*b) c@200us >1 <1);ranks=3;jitter=0.1;slow=c/900/40/1",
        args: ["--speed", "100", "--step", "0.1", "--foi", "step"],
    },
};

const digits = (text) => Number(text.replace(/\D/g, ""));
const choose = (page, label, option) =>
    page.getByRole("combobox", { name: label, exact: true }).selectOption(option);
const chosen = (page) => page.getByRole("group", { name: "What is chosen" });

/* Tries inked places of the scatter plot until one is a point: axes are ink, too. */
async function clickPoint(page) {
    const looked = page.locator(".live-looked h3");
    const places = await page.locator(".live-points canvas[role=img]").evaluate((canvas) => {
        const { width, height } = canvas;
        const whole = new OffscreenCanvas(width, height).getContext("2d");
        whole.drawImage(canvas, 0, 0);
        const { data } = whole.getImageData(0, 0, width, height);
        const box = canvas.getBoundingClientRect();
        const found = [];
        for (let y = 10; y < height; y += 3)
            for (let x = 60; x < width; x += 3)
                if (data[4 * (y * width + x) + 3])
                    found.push([
                        box.x + (x / width) * box.width,
                        box.y + (y / height) * box.height,
                    ]);
        return found;
    });
    for (let i = 0; i < places.length && !(await looked.count()); i += 1 + (places.length >> 6))
        await page.mouse.click(...places[i]);
    return looked.first().textContent();
}

/* A region, a rank, a time: one choice for points, history and records, in the URL. */
async function select(page) {
    await choose(page, "Points are", "calls");
    await choose(page, "Function", { label: "c" });
    await chosen(page).getByRole("button", { name: "Not only c" }).waitFor();
    await page.locator(".live-points .sampling", { hasText: /\d calls/ }).waitFor();
    await page
        .locator(".live-ranking")
        .getByRole("button", { name: "rank 1", exact: true })
        .click();
    await page.locator(".live-query td.number:nth-child(2)").first().waitFor();
    await page.waitForFunction(() =>
        [...document.querySelectorAll(".live-query tbody tr")].every(
            (row) =>
                row.cells[0].textContent.trim().endsWith("c") &&
                row.cells[1].textContent === "1",
        ),
    );
    const heat = await page.locator(".heat").boundingBox();
    await page.mouse.move(heat.x + heat.width * 0.2, heat.y + 5);
    await page.mouse.down();
    await page.mouse.move(heat.x + heat.width * 0.5, heat.y + 8, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(
        () => /rank=1/.test(location.hash) && /span=\d/.test(location.hash),
    );
    const [from, to] = /span=(\d+)%2C(\d+)/.exec(page.url()).slice(1).map(Number);
    await page.waitForFunction(
        ([from, to]) => {
            const ns = ({ textContent }) =>
                parseFloat(textContent) * (textContent.endsWith(" ms") ? 1e6 : 1e9);
            const at = [...document.querySelectorAll(".live-query tbody td:nth-child(3)")];
            return at.length && at.every((c) => ns(c) > from - 1e7 && ns(c) < to + 1e7);
        },
        [from, to],
    );
    const again = await page.context().newPage();
    await again.goto(page.url());
    await chosen(again).getByRole("button", { name: "Not only rank 1" }).waitFor();
    assert.equal(
        await chosen(again).getByRole("button").count(),
        4,
        "a link restores the choice",
    );
    await again.close();
    await chosen(page).getByRole("button", { name: "Show all" }).click();
    await chosen(page).waitFor({ state: "detached" });
}

async function statistics(page) {
    await choose(page, "Statistic", "severity_ns.total");
    await page.getByRole("columnheader", { name: "time lost, total" }).first().waitFor();
    const ranks = page.locator(".live-ranking tbody").first().locator("tr");
    const url = new URL("api/v1/live/ranks?by=severity_ns.total", page.url());
    const { items } = await (await fetch(url)).json();
    const order = items.map((item) => item.rank).join();
    await until(
        "those that lost most are the first",
        async () =>
            (await ranks.locator("button").allTextContents()).map(digits).join() === order,
    );
    await until(
        "the history of the first",
        async () =>
            (await ranks.first().locator(".spark rect").count()) ===
            items[0].history.values.length,
    );
    await choose(page, "What the history shows", "calls");
    await until(
        "the history has calls everywhere",
        async () => (await inked(page, ".heat")) > 0.3,
    );
    await choose(page, "What the history shows", "anomalies");
    await choose(page, "Region of the model", { label: "c" });
    await page.locator(".live-model .histogram .count").first().waitFor();
    await page.locator(".live-model .usual-key").waitFor();
}

async function records(page) {
    const first = page.locator(".live-query tbody tr").first();
    const worst = await first.textContent();
    assert.match(await page.locator(".live-query").textContent(), /1 to 20 of/);
    await page.getByRole("button", { name: "After" }).click();
    await page.getByText(/^21 to/).waitFor();
    await until("another page", async () => (await first.textContent()) !== worst);
    await page.getByRole("button", { name: "Before" }).click();
    await page.getByText(/^1 to 20 of/).waitFor();
    await until("the first page", async () => (await first.textContent()) === worst);
    await choose(page, "Collection", "normalexecs");
    await page.waitForFunction(() => !document.querySelector(".live-query .strange-mark"));
    await choose(page, "Collection", "anomalies");
    await page.locator(".live-query .strange-mark").first().waitFor();
}

/* What the program would be ahead without: the costliest first, and those that are known before the others. */
async function costs(page) {
    await choose(page, "Order", "cost");
    await page.waitForFunction(() => {
        const unit = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
        const ns = [...document.querySelectorAll(".live-query tbody td:nth-child(6)")].map(
            ({ textContent }) => {
                const [, number, name] = /([\d.]+) (\w+)$/.exec(textContent) ?? [0, -1, "ns"];
                return number * unit[name];
            },
        );
        return ns[0] > 1e6 && ns.every((n, i) => i === 0 || n <= ns[i - 1]);
    });
    await choose(page, "Order", "severity");
}

/* What was asked for is drawn: in the frame after this one at the latest. */
function nextFrame(page) {
    return page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
}

/* Normal points are thinned out, and left out where they are too long ago; anomalies are drawn until then. */
async function thinned(page) {
    const ink = () => inked(page, ".live-points canvas");
    const share = page.getByRole("slider", { name: "Share of the normal points, in percent" });
    await nextFrame(page); /* they are drawn by what was chosen last */
    const whole = await ink();
    await choose(page, "Time", { label: "last second" });
    await until("what is older is not drawn", async () => (await ink()) < whole);
    await choose(page, "Time", { label: "all of the time" });
    await until("all are drawn again", async () => (await ink()) === whole);
    await share.fill("0");
    await until("only anomalies are drawn", async () => (await ink()) < whole / 2);
    await page
        .locator(".live-points .sampling", { hasText: /[1-9]\d* anomalies outlined/ })
        .waitFor();
    const anomalies = await ink();
    await share.fill("50");
    await until("half of them", async () => (await ink()) > anomalies && (await ink()) < whole);
    await share.fill("100");
    await until("all of them", async () => (await ink()) === whole);
}

/* The strangest one: its reason, its structure, what happened around it. */
async function record(page) {
    await page.getByRole("button", { name: "Show why" }).click();
    await page.locator(".live-why .why").waitFor();
    assert.match(await page.locator(".live-why .why").textContent(), /took .* typical/);
    const nodes = page.locator(".live-structure .icicle .node");
    await until("structure", async () => (await nodes.count()) > 1);
    await page.locator(".live-structure .strange").first().waitFor();
    await until(
        "the timeline is drawn",
        async () => (await inked(page, ".live-timeline canvas")) > 0.05,
    );
    await choose(page, "Structure drawn as", "force");
    await page.locator(".live-structure .force circle").first().waitFor();
    await choose(page, "Structure drawn as", "icicle");
    await page.locator(".live-facts h3").click();
    const lanes = page.locator(".live-timeline canvas");
    const zooms = async (how, by) => {
        const before = await lanes.getAttribute("aria-label");
        await by();
        await until(how, async () => (await lanes.getAttribute("aria-label")) !== before);
    };
    await zooms("zoomed by the button", () =>
        page.locator(".live-timeline").getByRole("button", { name: "Zoom in" }).click(),
    );
    await zooms("zoomed by the wheel", async () => {
        await lanes.hover();
        await page.keyboard.down("Control");
        await page.mouse.wheel(0, -200);
        await page.keyboard.up("Control");
    });
    const was = page.url();
    await page.keyboard.press("j");
    await page.waitForFunction((url) => location.href !== url, was);
    const row = page.locator(".live-query tr.chosen");
    await row.waitFor();
    assert.equal(await row.evaluate((tr) => getComputedStyle(tr).display), "table-row");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Show why" }).waitFor();
}

async function looks(page) {
    for (const colorScheme of ["dark", "light"]) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(200);
        await accessible(page, `live, ${colorScheme}`);
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await accessible(page, "help of the live page");
    await page.keyboard.press("Escape");
    for (const [width, height] of [
        [1920, 1080],
        [3840, 2160],
        [1280, 720],
    ]) {
        await page.setViewportSize({ width, height });
        await until(
            `nothing is cut at ${width} x ${height}`,
            async () =>
                (await page.evaluate(() => document.documentElement.scrollWidth)) <= width,
        );
    }
}

export async function run({ page, server, context }) {
    await page.locator(".live-calls").waitFor();
    const other = await context.newPage();
    await other.goto(server.url);
    await other.locator(".live-calls").waitFor();

    // Both pages show the same, and go on showing it.
    for (const one of [page, other])
        await one.locator(".live-state", { hasText: "over" }).waitFor();
    const totals = await Promise.all(
        [page, other].map((one) => one.locator(".headline").textContent()),
    );
    assert.equal(totals[0], totals[1]);
    assert.match(totals[0], /[1-9]\d* anomal/);
    await other.close();
    await page
        .locator(".live-reduction[title*='because the trace is not in files']")
        .getByText("how much less than the trace is not known")
        .waitFor();

    await select(page);
    await statistics(page);
    await records(page);
    await costs(page);
    await record(page);

    // A point, by the mouse.
    await choose(page, "Points are", "executions");
    await page.locator(".live-points .sampling", { hasText: /\d executions/ }).waitFor();
    await choose(page, "Across", "exit_ns"); // when they ended is an axis as when they began
    await page.waitForFunction(() => /px=exit_ns/.test(location.hash));
    await choose(page, "Up", "enter_ns");
    await until(
        "points by begin and end",
        async () => (await inked(page, ".live-points canvas")) > 0.001,
    );
    await choose(page, "Up", "duration_ns");
    await thinned(page);
    assert.match(await clickPoint(page), /^step #\d-\d/);
    await looks(page);
    await page.keyboard.press("Escape");
    const usual = page.viewportSize();
    await page.setViewportSize({ width: 1400, height: 1200 }); // room to give
    await dragged(page, "points", "Height of Points");
    await page.setViewportSize(usual);
    await skips(page, "To the records", "view-query");

    await server.goAway();
    await page.getByText("The server does not answer").waitFor();
    assert.ok((await inked(page, ".live-points canvas")) > 0.001, "what was shown stays");
    await server.comeBack();
    await page.getByText("The server does not answer").waitFor({ state: "hidden" });
    await page.locator(".live-calls").waitFor();
}
