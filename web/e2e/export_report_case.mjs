// A report, opened as a file: all of it is there, in light, in dark, on paper and without scripts;
// it asks for nothing and complains of nothing, whatever functions are called.
import assert from "node:assert/strict";
import { accessible } from "./axe.mjs";
import { spawnSync } from "node:child_process";
import { stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

export const name = "a report that is sent as a file";

/* Names are shown without arguments of templates, but operators keep what looks like them. */
const hostile = {
    step: "operator</script ",
    work: 'operator< <img src=x onerror="window.hacked=2"> & <script>window.hacked=1',
    wait: "<!-- <script wait\u202e\u0007'\"`${window.hacked=3}",
};

/* Six ranks; on one, work takes far longer once. */
function trace() {
    const events = [];
    const add = (pid, name, ts, dur) => events.push({ ph: "X", pid, tid: 1, name, ts, dur });
    for (let rank = 0; rank < 6; rank++)
        for (let i = 0; i < 80; i++) {
            const from = i * 20000;
            const long = rank === 2 && i === 40 ? 9000 : 1000 + 7 * ((i * 31 + rank * 17) % 13);
            add(rank, hostile.step, from, long + 600);
            add(rank, hostile.work, from + 100, long);
            add(rank, hostile.wait, from + long + 150, 400);
        }
    return events;
}

function snag(...args) {
    const { status, stderr } = spawnSync(process.env.SNAG, args, { encoding: "utf8" });
    assert.equal(status, 0, `snag ${args[0]}: ${stderr}`);
}

async function make(place) {
    const [file, run, report] = ["trace.json", "hostile.snag", "report.html"].map((of) =>
        path.join(place, of),
    );
    await writeFile(file, JSON.stringify(trace()));
    snag("analyze", file, "--foi", "/script $/", "-o", run, "--quiet");
    snag("report", run, "-o", report);
    return report;
}

export const options = { file: make };

async function isSameScale(page) {
    const [own, usual] = await page
        .locator(".structure")
        .first()
        .locator("svg")
        .evaluateAll((all) =>
            all.map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width),
        );
    assert.ok(Math.abs(own / usual - 1) < 0.01, `scales ${own} and ${usual}`);
}

/* Nothing is wider than the paper or the screen. */
async function fits(page, what) {
    const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(wide <= 0, `${what}: ${wide} px too wide`);
}

export async function run({ page, server, context }) {
    const asked = [];
    const said = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => said.push(message.text()));
    await context.setOffline(true);
    await page.reload();

    for (const [view, least] of [
        ["points", 1],
        ["tree", 1],
        ["timeline", 1],
        ["ranks", 1],
    ]) {
        const n = await page
            .locator(`figure[data-view="${view}"].drawn :is(svg, canvas)`)
            .count();
        assert.ok(n >= least, `${n} drawings of ${view}`);
    }
    assert.equal(await page.locator("figure:not(.drawn)").count(), 0);
    const icicle = page.locator('figure[data-view="tree"] svg').first();
    assert.match(
        await icicle.textContent(),
        /▲ operator< <img src=x onerror="window.hacked=2"> & <script>.*<!-- <script wait/,
    );
    assert.match(await page.locator("h2").first().textContent(), /^operator<\/script/);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img, iframe, link, object").count(), 0);
    assert.equal(await page.locator("script").count(), 2);
    const ids = await page.locator("[id]").evaluateAll((all) => all.map((one) => one.id));
    assert.equal(new Set(ids).size, ids.length, "ids are there once");
    await isSameScale(page);
    for (const view of ["tree", "timeline"]) {
        const legend = page.locator(`figure[data-view="${view}"] .legend`).first();
        assert.match(await legend.textContent(), /own code/, `what colours mean in ${view}`);
    }

    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await accessible(page, colorScheme);
    }
    for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await fits(page, `${width} px`);
        await isSameScale(page);
    }
    await accessible(page, "1280 px");
    await page.setViewportSize({ width: 390, height: 800 });
    await accessible(page, "390 px");

    // Paper is light, whatever the screen is.
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.setViewportSize({ width: 688, height: 1000 });
    await fits(page, "paper");
    const paper = await page.evaluate(
        () => getComputedStyle(document.documentElement).backgroundColor,
    );
    assert.equal(paper, "rgb(255, 255, 255)");
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20000, `${pdf.length} bytes of PDF`);

    const url = page.url();
    assert.deepEqual(
        [...new Set(asked)].filter((one) => one !== url),
        [],
    );
    assert.deepEqual(said, []);

    // The preview of a mail: what matters is text.
    const plain = await context.browser().newContext({ javaScriptEnabled: false });
    const preview = await plain.newPage();
    await preview.goto(url);
    const text = await preview.locator("main").innerText();
    for (const expected of [
        /480 executions/,
        /anomal/,
        /than a typical execution with the same calls/,
        /#2-40/,
        /Trace quality/,
    ])
        assert.match(text, expected);
    assert.equal(await preview.locator("figure:visible").count(), 0);
    await plain.close();
    assert.ok((await stat(server.file)).size < 400000);
    assert.equal(url, String(pathToFileURL(server.file)));
}
