// What a program that is live counted, and what of its trace is damaged.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { assert } from "./steps.mjs";

export const name = "live: counters, and damage, are said";

const calls = 400;

/* One thread that calls f and reads a counter each time; one end of a call that never began. */
async function trace(place) {
    const events = [{ name: "lost", ph: "E", ts: 1, pid: 0, tid: 0 }];
    for (let i = 0; i < calls; i++) {
        const ts = 100 * i + 10;
        events.push({ name: "f", ph: "X", ts, dur: 20, pid: 0, tid: 0 });
        events.push({ name: "memory", ph: "C", ts: ts + 5, pid: 0, args: { used: i } });
    }
    const file = path.join(place, "trace.json");
    await writeFile(file, JSON.stringify({ traceEvents: events }));
    return `replay:${file}`;
}

export const options = { live: { program: trace, args: ["--speed", "0"] } };

export async function run({ page }) {
    await page.locator(".live-state", { hasText: "over" }).waitFor();
    const row = page.locator(".live-counters tbody tr").first();
    await row.waitFor();
    const cells = await row.locator("td").allTextContents();
    assert.match(cells[0], /memory/);
    assert.deepEqual(cells.slice(1), ["400", "399", "0", "199.5", "0", "399"]);
    await page.locator(".live-trouble").waitFor();
    assert.match(await page.locator(".live-trouble").textContent(), /1 .*(end|leave|call)/i);
}
