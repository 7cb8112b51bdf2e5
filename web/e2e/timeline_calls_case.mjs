// From the table of functions, and from that of an area, to the calls of a function: the longest first, then one
// after another by length; in sight, open, outlined. By mouse and by keyboard.
import { assert, exactly, loaded, openAnew, until } from "./steps.mjs";

export const name = "calls: rows of functions lead to their calls, the longest first";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:120*step(compute@1ms(a 3*b) >1 <1);ranks=24;jitter=0.05;slow=compute/67/9/2";
        await snag("analyze", program, "--foi", "step", "-o", "chain.snag", "--quiet");
        return ["chain.snag"];
    },
};

const said = (page) => page.getByRole("region", { name: "Selected call" });

/* Durations of all calls of a function, the longest first, as /search/next gives them. */
async function longest(page, name, n) {
    return page.evaluate(
        async ([of, most]) => {
            const regions = await (await fetch("api/v1/regions")).json();
            const { id } = regions.find((region) => region.name === of);
            const found = [];
            for (let from = ""; found.length < most;) {
                const path = `api/v1/search/next?region=${id}&order=longest${from}`;
                const hit = await (await fetch(path)).json();
                found.push(hit);
                from = `&from=${hit.location}.${hit.call}`;
            }
            return found;
        },
        [name, n],
    );
}

async function isShown(page, hit, place) {
    const took = exactly(hit.leave_ns - hit.enter_ns);
    await said(page)
        .filter({ hasText: `duration ${took}` })
        .filter({ hasText: place })
        .waitFor();
    const lane = page.locator(".rank-name", { hasText: new RegExp(`rank ${hit.location}$`) });
    assert.equal(await lane.getAttribute("aria-expanded"), "true");
    await until("it is scrolled to", async () => {
        const [box, canvas] = [
            await lane.boundingBox(),
            await page.locator(".timeline-scroll").boundingBox(),
        ];
        return box && box.y >= canvas.y && box.y < canvas.y + canvas.height;
    });
    await page.waitForFunction(
        (call) => location.hash.includes(`call=${call}`),
        `${hit.location}.${hit.call}`,
    );
}

async function byMouse(page, calls) {
    const regions = page.getByRole("region", { name: "Table of functions" });
    await regions.getByRole("button", { name: "compute", exact: true }).click();
    await isShown(page, calls[0], "1 of 2,880 by length");
    await said(page).getByRole("button", { name: "Shorter" }).click();
    await isShown(page, calls[1], "2 of 2,880 by length");
    await said(page).getByRole("button", { name: "Shorter" }).click();
    await isShown(page, calls[2], "3 of 2,880 by length");
    await said(page).getByRole("button", { name: "Longer" }).click();
    await isShown(page, calls[1], "2 of 2,880 by length");
}

async function byKeys(page, calls) {
    await page.getByRole("region", { name: "Table of functions" }).focus();
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.keyboard.press("Tab"); /* past the heads of the columns: they are buttons */
    for (let i = 0; i < 12 && !/^[a-z]+\w*$/i.test(await focused()); i++)
        await page.keyboard.press("Tab");
    const stops = page.locator('.panel-regions tbody [tabindex="0"]');
    assert.equal(await stops.count(), 1, "rows are one stop");
    await stops.focus();
    await page.keyboard.press("Home");
    for (let i = 0; i < 12 && (await focused()) !== "compute"; i++)
        await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await isShown(page, calls[0], "1 of 2,880 by length");
    await page.keyboard.press(".");
    await isShown(page, calls[1], "2 of 2,880 by length");
    await page.keyboard.press(",");
    await isShown(page, calls[0], "1 of 2,880 by length");
    await page.keyboard.press(",");
    await page
        .locator(".notice", { hasText: "That was the longest call of compute." })
        .waitFor();
}

/* An area on ranks 3 and 4: of the calls in it, not of those elsewhere. */
async function inArea(page, server) {
    const hash = "views=timeline&ranks=3,4&window=20000000,30000000&area=22000000,27000000:3,4";
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    const table = page.getByRole("region", { name: "What the area holds" });
    const row = table.locator("tr", { hasText: /^compute/ });
    const calls = Number(await row.locator("td").nth(1).textContent());
    assert.ok(calls > 4 && calls < 40, String(calls));
    await row.getByRole("button").click();
    const first = said(page).filter({ hasText: `1 of ${calls} by length in the area` });
    await first.waitFor();
    assert.match(await first.textContent(), /on rank [34]/);
    const begins = async () =>
        1e6 * Number(/begins ([\d.]+) ms/.exec(await said(page).textContent())[1]);
    for (let place = 2; place <= calls; place++) {
        await page.keyboard.press(".");
        await said(page)
            .filter({ hasText: `${place} of ${calls} by length in the area` })
            .waitFor();
        assert.ok((await begins()) < 27000000);
    }
    await page.keyboard.press(".");
    await page.locator(".notice", { hasText: "shortest call of compute" }).waitFor();

    // Any call that is chosen has others beside it, of the whole run.
    await openAnew(page, `${server.url}#call=5.1`);
    await loaded(page);
    await said(page).waitFor();
    await until("its number among all", async () => {
        await said(page).getByRole("button", { name: "Shorter" }).click();
        return /of 2,880 by length(?! in)/.test(await said(page).textContent());
    });
}

/* What is said of one can be selected and copied: its exact times, callers, kind, and what it sends. */
async function inFull(page, server) {
    await openAnew(page, `${server.url}#views=regions,timeline`);
    await loaded(page);
    await page.getByRole("button", { name: "MPI_Send", exact: true }).click();
    await said(page).filter({ hasText: /sends/ }).waitFor();
    const text = await said(page).evaluate((section) => {
        getSelection().selectAllChildren(section);
        return String(getSelection());
    });
    const words = text.replace(/\s+/g, " ");
    assert.match(
        words,
        /MPI_Send on rank \d+ .*duration \d+ ns .*begins [\d.]+ ms ends [\d.]+ ms/,
    );
    assert.match(words, /called by step .*kind MPI .*sends \d+ bytes to rank \d+, tag \d+/);
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await loaded(page);
    const calls = await longest(page, "compute", 3);
    for (const act of [byMouse, byKeys]) {
        await openAnew(page, `${server.url}#views=regions`);
        await loaded(page);
        await page.locator(".panel-regions tbody tr").first().waitFor();
        await act(page, calls);
    }
    await inArea(page, server);
    await inFull(page, server);
}
