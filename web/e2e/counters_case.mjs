// What counters and arguments say of the selected call: those of Score-P's kind at its borders, those that a location
// of the process reads now and then.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assert, loaded } from "./steps.mjs";

export const name = "counters: arguments and counters of the selected call";
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
    await page.goto("about:blank");
    await page.goto(`${server.url}#views=timeline&call=${call}`);
    await loaded(page);
    await table(page).waitFor();
}

const row = async (page, counter) =>
    (await table(page).locator("tr", { hasText: counter }).innerText())
        .replace(/\s+/g, " ")
        .trim();

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
}
