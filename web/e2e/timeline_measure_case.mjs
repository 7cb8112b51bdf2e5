// Measured in the timeline: the distance of two calls, and an area by function, rank and call path.
import { assert, detail, exactly, loaded, openAnew, until } from "./steps.mjs";

export const name = "measure: from one call to another, and what an area holds";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:40*step(compute@1ms(a 3*b) >1 <1);ranks=4;jitter=0.05;slow=compute/17/9/2";
        await snag("analyze", program, "--foi", "step", "-o", "two.snag", "--quiet");
        return ["two.snag"];
    },
};

const distance = (page) => page.getByRole("region", { name: "Distance of two calls" });
const callSaid = (page) => page.getByRole("region", { name: "Selected call" });
const inHash = (page, text) =>
    page.waitForFunction((part) => decodeURIComponent(location.hash).includes(part), text);

const call = (page, location, row) =>
    page.evaluate(
        async ([l, r]) => (await fetch(`api/v1/calls/${l}/${r}`)).json(),
        [location, row],
    );

/* The first calls of compute on ranks 0 and 1, as the server has them. */
async function computes(page) {
    return page.evaluate(async () => {
        const regions = await (await fetch("api/v1/regions")).json();
        const { id } = regions.find((region) => region.name === "compute");
        const first = (l) =>
            fetch(`api/v1/search/next?region=${id}&locations=${l}`).then((a) => a.json());
        return [await first(0), await first(1)];
    });
}

const print = (ns) => exactly(Math.abs(ns));

/* Where a time of a lane is on the screen, in a row. */
async function pointOf(page, rank, share, depth) {
    const lane = await page
        .locator(".rank-name", { hasText: new RegExp(`rank ${rank}$`) })
        .boundingBox();
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const left = canvas.x + 100;
    return [left + share * (canvas.width - 100), lane.y + 8 + depth * 17];
}

async function distances(page, server) {
    const [first, second] = await computes(page);
    const begin = 0;
    const end = Math.max(first.leave_ns, second.leave_ns) + 400000;
    const hash = `views=timeline&ranks=0,1&open=0,1&window=${begin},${end}`;
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
    await until("calls are drawn", async () =>
        page.evaluate(() => document.querySelector(".timeline-canvas")?.ariaBusy !== "true"),
    );
    const at = async ({ enter_ns, leave_ns }, rank, depth) =>
        pointOf(page, rank, ((enter_ns + leave_ns) / 2 - begin) / (end - begin), depth);
    await page.mouse.click(...(await at(first, 0, 1)));
    await callSaid(page).filter({ hasText: "compute on rank 0" }).waitFor();
    await page.keyboard.down("Shift");
    await page.mouse.click(...(await at(second, 1, 1)));
    await page.keyboard.up("Shift");
    const said = distance(page);
    await said.filter({ hasText: "compute on rank 1" }).waitFor();
    const shared =
        Math.min(first.leave_ns, second.leave_ns) - Math.max(first.enter_ns, second.enter_ns);
    const text = await said.textContent();
    assert.ok(text.includes(`Both ${print(shared)}`), text);
    assert.ok(text.includes(print(second.enter_ns - first.enter_ns)), text);
    assert.ok(text.includes(print(second.leave_ns - first.leave_ns)), text);
    assert.equal(await page.locator(".between").count(), 1);
    await inHash(page, `from=${first.location}.${first.call}`);

    // The link leads to the same; Escape ends it.
    await openAnew(page, page.url().replace(/\?n=\d+/, ""));
    await distance(page)
        .filter({ hasText: `Both ${print(shared)}` })
        .waitFor();
    await page.keyboard.press("Escape");
    await distance(page).waitFor({ state: "detached" });

    // By keys: from a call to its next one, with a gap between.
    await page.mouse.click(...(await at(first, 0, 1)));
    await callSaid(page).filter({ hasText: "compute on rank 0" }).waitFor();
    await page.keyboard.press("x");
    await distance(page).filter({ hasText: "choose a second one" }).waitFor();
    await page.locator(".timeline-scroll").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    const gap = distance(page).filter({ hasText: /Gap [\d.]+ [mun]s/ });
    await gap.waitFor();
    const here = await call(page, first.location, first.call);
    const after = await call(page, first.location, here.after);
    const later = await call(page, first.location, after.after);
    assert.ok(
        (await gap.textContent()).includes(`Gap ${print(later.enter_ns - here.leave_ns)}`),
        await gap.textContent(),
    );
    await page.getByRole("button", { name: "Measure no distance" }).click();
    await distance(page).waitFor({ state: "detached" });
    await callSaid(page).waitFor();
}

const table = (page) => page.getByRole("region", { name: "What the area holds" });
const column = (page, n) =>
    table(page).locator(`tbody tr > *:nth-child(${n})`).allTextContents();

async function areas(page, server) {
    const hash = "views=timeline&ranks=0,1,2,3&area=10000000,20000000:0,1,2,3";
    const asked = [];
    const note = (request) => /\/measure\?/.test(request.url()) && asked.push(request.url());
    page.on("request", note);
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    await table(page).locator("tbody tr").first().waitFor();
    page.off("request", note);
    assert.equal(asked.length, 1, `asked once: ${asked.join()}`);
    // What it holds in all is there as soon as the table is.
    assert.match(await page.locator(".chosen").textContent(), /messages? sent .* received/);
    const names = await column(page, 1);
    assert.ok(names.includes("compute") && names.includes("b"), names.join());

    // By any column, up and down.
    await table(page).getByRole("button", { name: "Function" }).click();
    assert.deepEqual(
        await column(page, 1),
        [...names].sort((a, b) => a.localeCompare(b)),
    );
    await table(page).getByRole("button", { name: "Calls" }).click();
    const calls = (await column(page, 3)).map((text) => Number(text.replaceAll(",", "")));
    assert.deepEqual(
        calls,
        [...calls].sort((a, b) => b - a),
    );
    await inHash(page, "area-order=calls-");

    // Ctrl+C is its table, but in a field, where it is what is selected there.
    const isTable = (at) =>
        at.evaluate((of) => {
            const clipboardData = new DataTransfer();
            const init = { bubbles: true, cancelable: true, clipboardData };
            of.dispatchEvent(new ClipboardEvent("copy", init));
            return clipboardData.getData("text/plain").includes("compute");
        });
    assert.ok(await isTable(page.locator("body")));
    await page.keyboard.press("/");
    assert.ok(!(await isTable(page.locator("input:focus"))));
    await page.keyboard.press("Escape");

    const by = page.getByRole("combobox", { name: "What is added up" });
    await by.selectOption({ label: "by rank" });
    await table(page).getByRole("button", { name: "rank 3" }).waitFor();
    await table(page).getByRole("button", { name: "Rank", exact: true }).click();
    assert.deepEqual(await column(page, 1), ["rank 0", "rank 1", "rank 2", "rank 3"]);
    await by.selectOption({ label: "by call path" });
    await table(page).locator("tbody tr", { hasText: "step > compute > b" }).waitFor();
    await inHash(page, "area-by=path");
    const all = await table(page).locator("tbody tr").count();
    assert.equal(all, names.length, "each function is called from one place in this program");
}

export async function run({ page, server }) {
    await loaded(page);
    await detail(page).waitFor();
    await distances(page, server);
    await areas(page, server);
}
