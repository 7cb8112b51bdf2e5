// The map of all ranks: the way in where they are many. It shows the one among a thousand, and leads to its lane; by
// mouse and by keyboard. What it is of, its order and its ranks are in the link.
import { assert, loaded, openAnew, openFilter, savedBy, told, until } from "./steps.mjs";

export const name = "rank map: of 1,000 ranks the one that was late, and the way to its lane";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:20*step(compute@1ms(a 3*b) >1 <1);ranks=1000;jitter=0.05;slow=compute/7/9/612";
        await snag("analyze", program, "--foi", "step", "-o", "ring.snag", "--quiet");
        return ["ring.snag"];
    },
};

const map = (page) => page.getByRole("region", { name: "Rank map" });
const lane = (page, rank) =>
    page.locator(".rank-name", { hasText: new RegExp(`rank ${rank}$`) });

/* Opacity of the pixels of a row of the picture, as shares. */
async function rowsOf(page) {
    return page.evaluate(() => {
        const canvas = document.querySelector(".panel-map canvas");
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
        return Array.from({ length: height }, (_, y) => {
            let most = 0;
            for (let x = 0; x < width; x++)
                most = Math.max(most, data[4 * (y * width + x) + 3]);
            return most / 255;
        });
    });
}

async function drawn(page) {
    await page.waitForFunction(() => performance.getEntriesByName("map-drawn").length > 0);
}

/* The same answer, as if what executions cost were not known. */
async function withoutCost(route) {
    const response = await route.fetch();
    const body = await response.body();
    const length = body.readUInt32LE(4);
    const header = JSON.parse(body.subarray(8, 8 + length));
    header.highest_ns = 0;
    header.not_known = {
        executions: 1234,
        lost_ns: 5e6,
        why: "its cost is not known: who waited for whom is not in the trace",
    };
    const data = Buffer.from(body.subarray(8 + length)).fill(0);
    let text = JSON.stringify(header);
    while (text.length % 8) text += " ";
    const head = Buffer.alloc(8);
    head.write("SNGC");
    head.writeUInt32LE(text.length, 4);
    await route.fulfill({ response, body: Buffer.concat([head, Buffer.from(text), data]) });
}

/* What delays cost the run: of the rank that was late, not of those that waited for it. By mouse and by keyboard. */
async function cost(page, server) {
    const [late, waited] = await page.evaluate(() =>
        Promise.all(
            [612, 613].map(async (rank) => {
                const path = `api/v1/fois/1/candidates?limit=1000&rank=${rank}`;
                const { items } = await (await fetch(path)).json();
                return items.reduce((sum, { cost_ns }) => sum + cost_ns, 0);
            }),
        ),
    );
    assert.ok(late > 1e6 && waited < late / 10, `612 cost ${late}, 613 ${waited}`);
    await openAnew(page, `${server.url}#map-order=most`);
    await loaded(page);
    await drawn(page);
    const choice = map(page).getByLabel("Coloured by");
    await choice.focus();
    await page.keyboard.press("ArrowDown");
    await map(page)
        .getByText(/^Colour: cost to the run, in /)
        .waitFor();
    await page.waitForFunction(() => /map=cost/.test(location.hash));
    await until("who was late is on top, and nearly nobody else", async () =>
        /rank 612/.test(await map(page).locator(".heat-ranks").textContent()),
    );
    const keys = await map(page).locator(".map-keys").textContent();
    assert.equal(keys.match(/[mun]?s/g).length, 3, keys);
    await page.locator(".actions .menu summary").click();
    const csv = String(await savedBy(page, "Rank map as CSV"));
    const [head, first] = csv.trim().split("\r\n");
    assert.equal(head, "location,rank,thread,cost_ns");
    const said = Number(first.split(",")[3]);
    assert.ok(Math.abs(said - late) < 1, `${said} and ${late}`);

    // Where it is not known, the page says why.
    await page.route("**/map?of=cost*", withoutCost);
    await openAnew(page, `${server.url}#map=cost&map-ranks=600-609&map-order=most`);
    await map(page).getByText("No cost to the run that is known.").waitFor();
    await map(page)
        .getByText(
            "What 1,234 executions that lost 5.00 ms cost the run is not known: who waited for whom is not in the trace.",
        )
        .waitFor();
    await page.unroute("**/map?of=cost*");
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await loaded(page);
    await drawn(page); /* it is there without being asked for */
    const rows = await rowsOf(page);
    const at = rows.indexOf(Math.max(...rows));
    assert.ok(Math.abs((at + 0.5) / rows.length - 612.5 / 1000) < 0.03, `darkest at ${at}`);

    // The keyboard: to the darkest cell, which says what it is; Enter shows its lane.
    const picture = map(page).locator(".heat-picture");
    await picture.focus();
    await page.keyboard.press("Home");
    for (let i = 0; i < Math.floor(at / 10); i++) await page.keyboard.press("PageDown");
    for (let i = 0; i < at % 10; i++) await page.keyboard.press("ArrowDown");
    const said = map(page).locator("[aria-live]");
    for (
        let i = 0;
        i < 256 && !/rank 61\d, .*about 1\d\d us/.test(await said.textContent());
        i++
    )
        await page.keyboard.press("ArrowRight");
    assert.equal(
        (await rowsOf(page)).length,
        rows.length,
        "it keeps its size whatever is said",
    );
    const [, rank] = /(rank 61\d), /.exec(await said.textContent());
    await page.keyboard.press("Enter");
    await lane(page, rank.slice(5)).waitFor();
    await page.waitForFunction(() => /window=/.test(location.hash));

    // Dragging over an area shows those of its lanes that lost most, at its time.
    const box = await map(page).locator("canvas").boundingBox();
    const y = (rank) => box.y + (box.height * rank) / 1000;
    await page.mouse.move(box.x + box.width * 0.3, y(580));
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y(650), { steps: 4 });
    await page.mouse.up();
    await lane(page, 612).waitFor();
    assert.equal(await page.locator(".rank-name").count(), 24);

    await page.mouse.move(0, 0);

    // Most first, and some ranks only; a link restores it, and what is coloured.
    await map(page).getByLabel("order").selectOption("most");
    await until("the one that lost most is on top", async () =>
        /rank 612/.test(await map(page).locator(".heat-ranks").textContent()),
    );
    const field = map(page).getByRole("searchbox", { name: "Ranks of the map" });
    await field.fill("600-609");
    await field.press("Enter");
    await until("ten rows", async () => (await rowsOf(page)).length === 10);
    await map(page).getByLabel("Coloured by").selectOption("waiting");
    await map(page)
        .getByText(/^Colour: time in MPI, in /)
        .waitFor();
    await page.waitForFunction(() => /map=waiting/.test(location.hash));
    const link = await page.evaluate(() => location.hash);
    await openAnew(page, server.url + link);
    await map(page)
        .getByText(/^Colour: time in MPI, in /)
        .waitFor();
    assert.equal(await field.inputValue(), "600-609");
    assert.equal((await rowsOf(page)).length, 10);

    await cost(page, server);

    // A function; and the view as CSV.
    await map(page).getByLabel("Coloured by").selectOption({ label: "in compute" });
    await map(page)
        .getByText(/^Colour: time in compute, in /)
        .waitFor();
    await page.locator(".actions .menu summary").click();
    const csv = String(await savedBy(page, "Rank map as CSV"))
        .trim()
        .split("\r\n");
    assert.equal(csv[0], "location,rank,thread,total_ns");
    assert.equal(csv.length, 11);
    const [, , , total] = csv[1].split(",").map(Number);
    assert.ok(total > 17e6 && total < 23e6, `20 calls of a millisecond: ${total}`);
    await page.locator(".actions .menu summary").click();
    const svg = String(await savedBy(page, "Rank map as SVG"));
    assert.match(svg, />Rank map<.*<image .*>rank 60\d<.*>time since the start →</s);

    // Of so many ranks one is typed.
    await openFilter(page);
    await page.getByRole("spinbutton", { name: "Rank", exact: true }).fill("612");
    await page.keyboard.press("Enter");
    await until("those on rank 612", async () => /list=612/.test(page.url()));
    await map(page)
        .getByText("None of these ranks has a lane that passes the filter.")
        .waitFor();
    await told(page, /labelled/, () => page.locator(".detail .label-normal").click());
}
