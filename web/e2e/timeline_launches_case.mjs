// What launched what runs on a GPU: arrows that are hovered, chosen, followed both ways, in the legend, left out; and what is
// said of a call that launched, or was launched.
import { kernels, serveGpuTrace, steps } from "./gpu_trace.mjs";
import { accessible } from "./axe.mjs";
import { defects } from "./looks.mjs";
import { assert, loaded, openAnew, until } from "./steps.mjs";

export const name = "launches: from who launched to what began then, and back";

export const options = { serve: serveGpuTrace };

const call = (page) => page.getByRole("region", { name: "Selected call" });
const launch = (page) => page.getByRole("region", { name: "Selected launch" });
const words = async (of) => (await of.innerText()).replace(/\s+/g, " ");

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#views=timeline&${hash}`);
    await loaded(page);
    await page.locator('.timeline-canvas[aria-busy="false"]').waitFor();
}

/* Of the call: what was launched by it, and back. */
async function fromTheCall(page, server, launches) {
    const first = launches[0];
    await open(page, server, `tree=0&call=${first.from}.${first.from_call}`);
    await call(page).waitFor();
    assert.match(await words(call(page)), /launched kernel_0 on .* delay 150\.000 us/);
    await call(page)
        .getByRole("button", { name: /^kernel_0 on/ })
        .click();
    await call(page).filter({ hasText: "launched by" }).waitFor();
    assert.match(await words(call(page)), /^kernel_0 on .*launched by cudaLaunchKernel on/);
    assert.match(await words(call(page)), /kind on a GPU/);
    await call(page)
        .getByRole("button", { name: /^cudaLaunchKernel on/ })
        .click();
    await call(page).filter({ hasText: "launched kernel_0" }).waitFor();
}

/* With the keys: the launch of the call, then to its ends. */
async function byKeys(page, server, launches) {
    const third = launches[2];
    await open(page, server, `tree=0&call=${third.from}.${third.from_call}`);
    await call(page).waitFor();
    await page.keyboard.press("]");
    await launch(page).waitFor();
    assert.match(
        await words(launch(page)),
        /Launch .*from 300\.000 us .*to 850\.000 us .*until it began 550 us/,
    );
    await page.keyboard.press("]");
    await call(page)
        .filter({ hasText: /^kernel_2/ })
        .waitFor();
    await page.keyboard.press("[");
    await launch(page).waitFor();
    await page.keyboard.press("[");
    await call(page)
        .filter({ hasText: /^cudaLaunchKernel/ })
        .waitFor();
}

/* On the arrow itself, halfway between its ends; other arrows and calls are elsewhere. */
async function byMouse(page, server) {
    await open(page, server, "tree=0&window=100000,1300000");
    const canvas = page.locator(".timeline-canvas");
    const hover = page.locator(".hover");
    const box = await canvas.boundingBox();
    let found = null;
    // that of kernel_2, from 300 us to 850: of what is shown it is at two fifths
    for (let x = 110 + 0.3 * box.width; x < box.width && !found; x += 12)
        for (let y = 30; y < box.height && !found; y += 3) {
            await page.mouse.move(box.x + x, box.y + y);
            if (/^launch /.test((await hover.allTextContents())[0] ?? ""))
                found = [box.x + x, box.y + y];
        }
    assert.ok(found, "an arrow is under the pointer somewhere");
    assert.match((await hover.innerText()).replace(/\s+/g, " "), /until it began$/);
    await page.mouse.click(...found);
    await launch(page).waitFor();
    await launch(page)
        .getByRole("button", { name: /^Launched: / })
        .click();
    await call(page)
        .filter({ hasText: /^kernel_/ })
        .waitFor();
}

async function legendAndFilter(page, server) {
    await open(page, server, "tree=0");
    const legend = page.locator(".kinds-legend");
    await legend.filter({ hasText: "a launch" }).waitFor();
    assert.match(await words(legend), /on a GPU .*runtime.*own code/);
    const drawn = () =>
        page.evaluate(() => {
            const canvas = document.querySelector(".timeline-canvas");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            return data.reduce((sum, byte, i) => (sum + byte * ((i % 251) + 1)) % 1e9, 0);
        });
    /* Once it is no longer another each time. */
    const settled = async () => {
        let before = -1;
        await until("it is drawn", async () => {
            const last = before;
            await page.waitForTimeout(300);
            before = await drawn();
            return before === last;
        });
        return before;
    };
    const choose = async (what) => {
        await page.locator(".menu.ranks summary").click();
        await page.getByLabel("Between lanes").selectOption(what);
    };
    await choose("messages");
    const without = await settled();
    await choose("all");
    await until("arrows are there", async () => (await drawn()) !== without);
    const all = await settled();
    await choose("collectives");
    await until("arrows are gone", async () => (await drawn()) === without);
    await choose("launches");
    await until("they are back", async () => (await drawn()) === all);
    await page.waitForFunction(() => location.hash.includes("links=launches"));
}

/* The call, the launch and its legend, in a small window too. */
async function looks(page, server, launches) {
    const first = launches[0];
    for (const width of [1400, 800]) {
        await page.setViewportSize({ width, height: 900 });
        await open(page, server, `tree=0&call=${first.from}.${first.from_call}`);
        await call(page).waitFor();
        await accessible(page, `launches, ${width}`);
        assert.deepEqual(await page.evaluate(defects), [], String(width));
    }
    await page.setViewportSize({ width: 1400, height: 900 });
}

async function kinds(page, server) {
    await openAnew(page, `${server.url}#views=regions,timeline`);
    await loaded(page);
    const rows = page.locator(".panel-regions tbody tr");
    await rows.first().waitFor();
    const kind = async (of) =>
        rows
            .filter({ has: page.getByRole("button", { name: of, exact: true }) })
            .locator("td")
            .first()
            .textContent();
    assert.equal(await kind("kernel_1"), "on a GPU");
    assert.equal(await kind("cudaLaunchKernel"), "runtime");
    assert.equal(await kind("step"), "own code");
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await loaded(page);
    const launches = await page.evaluate(async () => {
        const bytes = await (await fetch("api/v1/dependencies")).arrayBuffer();
        const n = new DataView(bytes).getUint32(4, true);
        const { columns } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, n)));
        const types = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array };
        const of = (c) => [...new types[c.type](bytes, 8 + n + c.offset, c.n)];
        const all = Object.fromEntries(columns.map((c) => [c.name, of(c)]));
        return all.from_ns.map((_, i) =>
            Object.fromEntries(Object.entries(all).map(([key, column]) => [key, column[i]])),
        );
    });
    assert.equal(launches.length, steps * kernels);
    launches.forEach((l, i) =>
        assert.equal(l.to_ns - l.from_ns, 1000 * (200 * (i % kernels) + 150)),
    );
    await fromTheCall(page, server, launches);
    await byKeys(page, server, launches);
    await byMouse(page, server);
    await legendAndFilter(page, server);
    await kinds(page, server);
    await looks(page, server, launches);
}
