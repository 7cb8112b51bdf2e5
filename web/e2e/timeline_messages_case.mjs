// Who sent to whom: of 1,000 ranks neighbours are one row, of few each has its own. What a cell holds is said, by
// mouse and by keyboard; what is chosen is shown in the timeline. And functions of the window alone.
import { accessible } from "./axe.mjs";
import { assert, loaded, openAnew, savedBy, until } from "./steps.mjs";

export const name = "messages: a matrix of who sent to whom, and functions of a window";

const panel = (page) => page.getByRole("region", { name: "Messages", exact: true });
const said = (page) => panel(page).locator("[aria-live]");
const lanes = (page) => page.locator(".rank-name");

/* Each of four ranks sends 200 messages of 8 bytes to the next one. */
async function fewRanks(page, server) {
    await openAnew(page, `${server.url}#views=messages,timeline`);
    await loaded(page);
    await panel(page)
        .getByText(
            /^800 messages, 6.25 KiB, between 4 ranks; receivers waited .* for senders\.$/,
        )
        .waitFor();
    await until("nothing loads", async () => !(await page.locator(".loading").count()));
    await page.locator(".timeline-canvas").waitFor();
    await accessible(page, "messages");
    const picture = panel(page).locator(".heat-picture");
    await picture.focus();
    await page.keyboard.press("ArrowRight"); /* from nothing to the first cell */
    await said(page).getByText("rank 0 to rank 0: no messages").waitFor();
    await page.keyboard.press("ArrowRight");
    await said(page)
        .getByText(
            /^rank 0 to rank 1: 200 messages, 1.56 KiB; transfer .* in the mean, .* at most/,
        )
        .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await said(page)
        .getByText(/^rank 1 to rank 2: 200 messages/)
        .waitFor();
    await page.keyboard.press("Enter");
    await until("two lanes", async () => (await lanes(page).count()) === 2);
    assert.deepEqual(
        (await lanes(page).allTextContents()).map((text) => text.match(/rank \d/)[0]),
        ["rank 1", "rank 2"],
    );
    await until("they are in the link", async () => /ranks=1%2C2/.test(page.url()));

    // By mouse: the last row, the first column.
    const box = await panel(page).locator("canvas").boundingBox();
    await page.mouse.move(box.x + 0.1 * box.width, box.y + 0.9 * box.height);
    await said(page)
        .getByText(/^rank 3 to rank 0: 200 messages/)
        .waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await until("the other two", async () => /ranks=0%2C3/.test(page.url()));

    // In the table, by what is coloured; a head chooses that.
    const first = panel(page).locator("tbody tr").first();
    await panel(page).getByRole("button", { name: "Waited" }).click();
    await page.waitForFunction(() => /messages=wait_ns/.test(location.hash));
    await first.getByRole("button").click();
    await until("its two ranks", async () => (await lanes(page).count()) === 2);
    await page.locator(".actions .menu summary").click();
    const csv = String(await savedBy(page, "Messages as CSV"))
        .trim()
        .split("\r\n");
    assert.equal(csv[0], "from,to,messages,bytes,mean_ns,longest_ns,wait_ns,longest_wait_ns");
    assert.equal(csv.length, 5);
    const waits = csv.slice(1).map((line) => Number(line.split(",")[6]));
    assert.deepEqual(
        waits,
        [...waits].sort((a, b) => b - a),
    );
}

/* Of the window that the timeline shows: one execution of 200. */
async function ofTheWindow(page, server) {
    const { begin, end } = await page.evaluate(async () => {
        const { items } = await (await fetch("api/v1/fois/1/candidates?limit=1&rank=0")).json();
        return { begin: items[0].enter_ns, end: items[0].enter_ns + items[0].duration_ns };
    });
    await openAnew(
        page,
        `${server.url}#views=messages,timeline&messages-of=window&window=${begin},${end}`,
    );
    await loaded(page);
    await until("few messages", async () =>
        /^[2-8] messages, /.test(await panel(page).locator(".matrix-sum").textContent()),
    );
    await openAnew(
        page,
        `${server.url}#views=regions,timeline&regions-of=window&window=${begin},${end}`,
    );
    await loaded(page);
    const regions = page.locator(".panel-regions");
    await regions.getByText(/^\d+ functions from .* to .* on 4 lanes; times are/).waitFor();
    assert.deepEqual(await regions.locator("thead button").allTextContents(), [
        "Function",
        "Kind",
        "Calls",
        "Time",
        "Own time\u00a0↓",
    ]);
    const calls = async (of) =>
        Number(
            await regions
                .locator("tr", { has: page.getByRole("button", { name: of, exact: true }) })
                .locator("td")
                .nth(1)
                .textContent(),
        );
    const ofAll = await calls("compute");
    assert.ok(ofAll >= 4 && ofAll <= 8, `${ofAll} calls of compute`);

    // On one lane of it.
    await regions.getByLabel("Functions of").selectOption("lanes");
    await page.waitForFunction(() => /regions-of=lanes/.test(location.hash));
    await openAnew(
        page,
        `${server.url}#views=regions,timeline&regions-of=lanes&ranks=0&window=${begin},${end}`,
    );
    await loaded(page);
    await regions.getByText(/on 1 lane; times are/).waitFor();
    assert.ok((await calls("compute")) <= 2);

    // Where nothing was sent.
    await openAnew(
        page,
        `${server.url}#views=messages,timeline&messages-of=window&window=${begin},${begin + 2}`,
    );
    await loaded(page);
    await panel(page).getByText("No message was sent in this window.").waitFor();
}

/* A thousand ranks: rows of five; the one that was late is waited for. */
async function manyRanks(page, startOwn) {
    const server = await startOwn(async (snag) => {
        const program =
            "synth:5*step(compute@1ms >1 <1);ranks=1000;jitter=0.05;slow=compute/3/9/612";
        await snag("analyze", program, "--foi", "step", "-o", "ring.snag", "--quiet");
        return ["ring.snag"];
    });
    await page.goto(`${server.url}#views=messages,timeline&messages=longest_wait_ns`);
    await loaded(page);
    await panel(page)
        .getByText(/^5,000 messages, 39.1 KiB, between 1,000 ranks, 5 to a row; /)
        .waitFor();
    const cells = await panel(page)
        .locator("canvas")
        .evaluate((canvas) => [canvas.width, canvas.height]);
    assert.deepEqual(cells, [200, 200]);
    const first = panel(page).locator("tbody tr").first();
    assert.equal(
        await first.getByRole("button").textContent(),
        "ranks 610-614 to ranks 610-614",
    );
    await first.getByRole("button").click();
    await until("its ranks", async () => (await lanes(page).count()) === 5);
    await server.stop();
}

export async function run({ page, server, startOwn }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await fewRanks(page, server);
    await ofTheWindow(page, server);
    await manyRanks(page, startOwn);
}
