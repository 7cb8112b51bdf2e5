// Names as other people have them: as long as templates make them, and read from right to left.
import { assert, loaded, openAnew } from "./steps.mjs";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const template = `kernel_of_${"the_inner_loop_of_".repeat(12)}cells`;
const hebrew = "חישוב_שלב";

/* Two ranks that call both functions in each of 40 steps, now and then late. */
function trace() {
    const all = [];
    for (const pid of [0, 1])
        for (let k = 0, ts = 0; k < 40; k++) {
            const late = k === 17 && pid === 1 ? 700 : 0;
            const call = (name, at, dur) =>
                all.push({ ph: "X", pid, tid: 0, name, cat: "cpu_op", ts: at, dur });
            call("step", ts, 190 + late);
            call(template, ts + 10, 80);
            call(hebrew, ts + 95, 60 + late);
            ts += 200 + late;
        }
    return JSON.stringify({ traceEvents: all });
}

export const name = "names: long ones fill no view, those from right to left move no numbers";
export const options = {
    serve: async (snag) => {
        const place = mkdtempSync(join(tmpdir(), "snag-names-"));
        writeFileSync(join(place, "names.json"), trace());
        await snag(
            ...["analyze", join(place, "names.json"), "--foi", "step"],
            ...["-o", "names.snag", "--quiet"],
        );
        rmSync(place, { recursive: true });
        return ["names.snag"];
    },
};

/* A cell is under its heading: both begin, or end, at the same place of the column. */
const crooked = (page) =>
    page.evaluate(() => {
        const found = [];
        for (const table of document.querySelectorAll("table")) {
            const heads = [...table.querySelectorAll("thead th")];
            const row = [...table.querySelectorAll("tbody tr")].find(
                (tr) => tr.children.length === heads.length,
            );
            if (!row) continue;
            [...row.children].forEach((cell, k) => {
                const [a, b] = [heads[k], cell].map((e) => getComputedStyle(e).textAlign);
                const side = (of) => (of === "right" || of === "end" ? "right" : "left");
                if (side(a) !== side(b)) found.push(`${heads[k].textContent}: ${a} over ${b}`);
            });
        }
        return found;
    });

/* Whose content is wider than it is. */
const tooWide = (page) =>
    page.evaluate(() =>
        [...document.querySelectorAll(".panel, .top, .detail, .candidates ol")]
            .filter((e) => e.scrollWidth > e.clientWidth + 1)
            .map((e) => `${e.className}: ${e.scrollWidth} in ${e.clientWidth}`),
    );

export async function run({ page, server }) {
    await openAnew(page, `${server.url}#views=timeline,regions&list=:::score`);
    await loaded(page);
    const regions = page.getByRole("region", { name: "Table of functions" });
    const long = regions.locator("bdi[title]").first();
    await long.waitFor();
    assert.equal(await long.getAttribute("title"), template);
    assert.ok((await long.textContent()).length < 60);

    // What a name stands beside is read from left to right, whatever the name.
    const reason = page.locator(".candidate .why").first();
    assert.match(await reason.textContent(), new RegExp(`\u2068${hebrew}\u2069 \\+`));
    await regions.getByRole("button", { name: hebrew }).click();
    const said = page.getByRole("region", { name: "Selected call" });
    await said.filter({ hasText: hebrew }).waitFor();
    const order = await said
        .locator("p")
        .first()
        .evaluate((p) => {
            const at = (node) => {
                const range = document.createRange();
                range.selectNodeContents(node);
                return range.getBoundingClientRect();
            };
            const name = p.querySelector("b");
            let after = name.nextSibling;
            while (!after.textContent.trim()) after = after.nextSibling;
            return { name: at(name).right, after: at(after).left, text: after.textContent };
        });
    assert.match(order.text, /^ ?on /);
    assert.ok(order.after >= order.name - 1, JSON.stringify(order));

    for (const views of ["overview,structure", "why,regions", "ranks,timeline", "quality"]) {
        await openAnew(page, `${server.url}#views=${views}&area=0,2000000:0,1`);
        await loaded(page);
        await page.waitForFunction(() => !document.querySelector(".state.loading"));
        assert.deepEqual(await tooWide(page), [], views);
        assert.deepEqual(await crooked(page), [], views);
    }
}
