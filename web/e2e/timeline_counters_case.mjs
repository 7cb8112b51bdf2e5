// What counters and arguments say of the selected call: those of Score-P's kind at its borders, those that a location
// of the process reads now and then; and a counter over time, below the lanes.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { accessible } from "./axe.mjs";
import { defects } from "./looks.mjs";
import { assert, loaded, openAnew } from "./steps.mjs";

export const name = "counters: of the selected call, with its arguments, and over time";
const sample = join(dirname(process.env.SNAG ?? ""), "tests/support/sample_archive");

export const options = {
    serve: async (snag) => {
        const trace = mkdtempSync(join(tmpdir(), "snag-counted-"));
        execFileSync(sample, [trace, "counted"]);
        await snag("analyze", trace, "--foi", "step", "-o", "counted.snag", "--quiet");
        rmSync(trace, { recursive: true });
        return ["counted.snag"];
    },
};

const said = (page) => page.getByRole("region", { name: "Selected call" });
const table = (page) => page.getByRole("region", { name: "Counters of the call" });

async function choose(page, server, call) {
    await openAnew(page, `${server.url}#views=timeline&call=${call}`);
    await loaded(page);
    await table(page).waitFor();
}

const row = async (page, counter) =>
    (await table(page).locator("tr", { hasText: counter }).innerText())
        .replace(/\s+/g, " ")
        .trim();

const legend = (page) => page.getByRole("status", { name: "Counter" });
const choice = (page) => page.getByLabel("Counter below the lanes");

/* What the pointer is told over the strip, which is above the lower edge of the only lane that is there. */
async function told(page, share) {
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const hover = page.locator(".hover");
    for (let y = 20; y < canvas.height; y += 8) {
        await page.mouse.move(canvas.x + canvas.width * share, canvas.y + y);
        const text = await hover.innerText({ timeout: 100 }).catch(() => "");
        if (/^(instructions|heat|power)\b/.test(text)) return text.replace(/\s+/g, " ");
    }
    assert.fail("the strip is not there");
}

async function overTime(page, server) {
    await openAnew(page, `${server.url}#views=timeline&ranks=0&threads=0&window=0,300000`);
    await loaded(page);
    assert.equal(await legend(page).count(), 0);
    await choice(page).selectOption("instructions");
    await legend(page).filter({ hasText: "0 to 3 G per second" }).waitFor();
    assert.match(await told(page, 0.6), /^instructions 3,000,\d{3},\d{3} per second rank 0/);
    assert.match(
        await page.locator(".timeline-canvas").getAttribute("aria-label"),
        /Below the lanes: instructions, per second; .* scale: 0 to 3 G per second/,
    );
    // A sensor of the process is read by a location that has no lane; it is under its rank.
    await choice(page).selectOption("power");
    await legend(page).filter({ hasText: "0 to 0.0" }).waitFor();
    assert.match(await told(page, 0.6), /^power 0\.0\d+( to 0\.0\d+)? W/);
    await page.getByLabel("Counter told by").selectOption("rate");
    await legend(page).filter({ hasText: "W per second" }).waitFor();
    assert.match(await told(page, 0.6), /^power 66\.\d+ W per second/);
    await page.waitForFunction(
        () =>
            location.hash.includes("counter=power") &&
            location.hash.includes("counter-as=rate"),
    );
    for (const width of [800, 1400]) {
        await page.setViewportSize({ width, height: 900 });
        await legend(page).waitFor();
        await accessible(page, `a counter, ${width}`);
        assert.deepEqual(await page.evaluate(defects), [], String(width));
    }
    // A link that names another says so.
    await openAnew(page, `${server.url}#views=timeline&counter=nothing`);
    await legend(page).filter({ hasText: "The trace has no counter nothing." }).waitFor();
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await loaded(page);
    const get = (path) =>
        page.evaluate(async (at) => (await fetch(`api/v1/${at}`)).json(), path);
    const step = await get("calls/0/1");
    const of = (counter) => step.counters.find(({ name: is }) => is === counter);
    assert.equal(of("instructions").inclusive, 3 * (step.leave_ns - step.enter_ns));
    assert.equal(of("instructions").own, 3 * step.exclusive_ns);

    await choose(page, server, "0.1");
    const words = (await said(page).innerText()).replace(/\s+/g, " ");
    assert.match(words, /number 0 /);
    assert.match(words, /parity even/);
    const count = (x) => x.toLocaleString("en-US");
    assert.equal(
        await row(page, "instructions"),
        `instructions ${count(of("instructions").inclusive)} ${count(of("instructions").own)} 3,000,000,000`,
    );
    assert.match(await row(page, "heat"), /^heat C 40\.5 at its begin; 41 at its end/);
    assert.match(
        await row(page, "power"),
        /^power W \(rank 0[^)]*\) 0, read 1\.00 us before it; 0\.001, read [\d.]+ us before its end/,
    );

    // Its first call was called with nothing, and has counters of its own.
    await choose(page, server, "0.2");
    assert.doesNotMatch(await said(page).innerText(), /parity/);
    assert.match(await row(page, "instructions"), /^instructions [\d,]+ [\d,]+ 3,000,000,000$/);
    await overTime(page, server);
}
