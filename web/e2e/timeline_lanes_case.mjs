// The lanes of the timeline: threads under their ranks, ranks that stay in sight, collectives, and the arrow keys;
// by mouse and by keyboard. Rank 2 is late, so rank 3, which waits for
// its message, comes last to a barrier; what rank 2 loses at the very end nobody waits for.
import { accessible } from "./axe.mjs";
import { assert, loaded, openAnew, until } from "./steps.mjs";

export const name = "lanes: threads under their rank, pinned ranks, collectives, arrow keys";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:40*step(compute@1ms team@10us[work@300us] >1 <1 | last@10us);ranks=6;threads=3;jitter=0.05;slow=compute/37/9/2;slow=last/40/300/2";
        await snag("analyze", program, "--foi", "step", "-o", "hybrid.snag", "--quiet");
        return ["hybrid.snag"];
    },
};

const left = 100; /* room for the names of ranks */
const lanes = (page) => page.getByRole("application", { name: "Calls over time" });
const names = (page) => page.locator(".rank-name");
const nameOf = (page, rank) => names(page).filter({ hasText: new RegExp(`rank ${rank}$`) });
const chosen = (page, what) => page.getByRole("region", { name: `Selected ${what}` });

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
}

async function count(page, n, what) {
    await until(`${what}: ${n} lanes`, async () => (await names(page).count()) === n);
}

/* Of the rank that is looked at threads are shown, of others when they are asked for; a link restores that. */
async function threadsUnfold(page, server) {
    await open(page, server, "views=timeline&ranks=0,6");
    await count(page, 4, "ranks 0 and 2, and the threads of 2");
    await names(page).filter({ hasText: ".2 " }).waitFor();
    const threads = (sign) => page.locator(".lane-threads", { hasText: `${sign} 2 threads` });
    await threads("−").click();
    await count(page, 2, "its threads are folded");
    await threads("+").first().click();
    await count(page, 4, "those of rank 0 are unfolded");
    await page.waitForFunction(() => /threads=0(,|%2C)2x/.test(location.hash));
    const link = await page.evaluate(() => location.hash);
    await open(page, server, link.slice(1));
    await count(page, 4, "as the link says");
    await lanes(page).focus();
    await page.keyboard.press("t");
    await count(page, 6, "by the key, of the rank that is looked at");
    await page.keyboard.press("t");
    await count(page, 4, "and back");
}

/* It stays where it is while the others scroll. */
async function pinsStay(page, server) {
    await page.setViewportSize({ width: 1400, height: 420 });
    await open(page, server, "views=timeline&ranks=0,3,6,9,12,15");
    await page.getByRole("button", { name: "Keep rank 5 in sight" }).click({ force: true });
    const top = async () => (await nameOf(page, 5).boundingBox())?.y;
    const scroll = (to) => lanes(page).evaluate((box, y) => (box.scrollTop = y), to);
    await scroll(0); /* to be clicked, it was scrolled to */
    await until(
        "it comes first",
        async () => (await top()) < (await nameOf(page, 0).boundingBox())?.y,
    );
    const before = await top();
    await scroll(10000);
    await until("the others are scrolled", async () => (await nameOf(page, 0).count()) === 0);
    await until("it is where it was", async () => Math.abs((await top()) - before) < 1.5);
    await page.waitForFunction(() => /pinned=5/.test(location.hash));
    await accessible(page, "a pinned rank");
    const link = await page.evaluate(() => location.hash);
    await open(page, server, link.slice(1));
    await until("as the link says", async () => Math.abs((await top()) - before) < 1.5);
    await lanes(page).focus();
    await page.keyboard.press("p"); /* rank 2, which is looked at */
    await page.waitForFunction(() => /pinned=5(,|%2C)2/.test(location.hash));
    await page.keyboard.press("p");
    await page.waitForFunction(() => /pinned=5(&|$)/.test(location.hash));
    await page.setViewportSize({ width: 1400, height: 900 });
}

/* Ranks are ordered by what they lost, and those that lost most are found. */
async function ranksByLoss(page, server) {
    await open(page, server, "views=timeline&ranks=0,6&threads=2x");
    await page.locator(".menu.ranks summary").click();
    const menu = page.locator(".menu.ranks");
    const isClosed = () => page.locator(".menu.ranks:not([open])").waitFor();
    const isOnTop = () =>
        until("rank 2 is on top", async () =>
            /rank 2$/.test(await names(page).first().textContent()),
        );
    await page.getByRole("button", { name: "These ranks, those that lost most first" }).click();
    await isClosed();
    await isOnTop(); /* what is done meanwhile would be in its place */
    await menu.locator("summary").click();
    await page
        .locator(".timeline-canvas")
        .click({ position: { x: 300, y: 60 } }); /* beside it */
    await isClosed();
    await menu.locator("summary").press("Enter");
    await page.locator(".candidate .pick").first().focus();
    await isClosed();
    await page.keyboard.press("Escape");
    await isOnTop();
    await menu.locator("summary").click();
    await page.getByRole("button", { name: /^The ranks that lost most/ }).press("Enter");
    await isClosed();
    await count(page, 6, "all that there are");
    assert.match(await names(page).first().textContent(), /rank 2$/);
}

/* From call to call, with one stop of the Tab key. */
async function arrowsWalk(page, server) {
    await open(page, server, "views=timeline&ranks=0,6&threads=2x");
    await lanes(page).focus();
    const go = async (key, name, on) => {
        await page.keyboard.press(key);
        await chosen(page, "call")
            .filter({ hasText: new RegExp(`^${name} on ${on}\\D`) })
            .waitFor();
    };
    await go("ArrowDown", "step", "rank 2");
    await go("ArrowDown", "compute", "rank 2");
    await go("ArrowRight", "team", "rank 2");
    await go("ArrowLeft", "compute", "rank 2");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /mark=.*compute/.test(decodeURIComponent(location.hash)));
    await go("Shift+ArrowUp", ".*", "rank 0");
    await go("Shift+ArrowDown", ".*", "rank 2");
    await go("ArrowUp", "step", "rank 2");
    await go("ArrowUp", "step", "rank 0"); /* it has no caller: the lane above */
    await go("ArrowDown", "compute", "rank 0");
    await page.keyboard.press("ArrowRight"); /* keys come faster than answers */
    await go("ArrowRight", "MPI_Send", "rank 0");
    await page.keyboard.press("ArrowLeft");
    await go("ArrowLeft", "compute", "rank 0");
    const stops = await lanes(page).evaluate(
        (box) => [...box.querySelectorAll("*")].filter((e) => e.tabIndex >= 0).length,
    );
    assert.equal(stops, 0, "the names of lanes are no stops of their own");
    await page.keyboard.press("w"); /* it zooms what has the focus */
    await page.waitForFunction(() => /window=/.test(location.hash));
    await accessible(page, "a call that was gone to");
}

/* Where the right edge of the late barrier is drawn, and a height between two of its lanes. */
async function edgeOfBarrier(page) {
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const share = await page.evaluate(async () => {
        const get = async (path) => (await fetch(`api/v1${path}`)).json();
        const { items } = await get("/fois/1/candidates?limit=1");
        const [{ enter_ns, duration_ns, call, vertices }] = items;
        const { last_ns } = await get(`/calls/6/${call + vertices - 2}/collective`);
        const margin = 0.08 * duration_ns;
        return (last_ns - enter_ns + margin) / (duration_ns + 2 * margin);
    });
    const [above, below] = [
        await nameOf(page, 1).boundingBox(),
        await nameOf(page, 2).boundingBox(),
    ];
    return [canvas.x + left + share * (canvas.width - left), (above.y + below.y) / 2 + 6];
}

async function collectivesAreFollowed(page, server) {
    await open(page, server, "views=timeline&ranks=3,6&threads=2x");
    await page.locator(".menu.ranks summary").click();
    await page.getByLabel("Between lanes").selectOption("collectives");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => /links=collectives/.test(location.hash));
    const [x, y] = await edgeOfBarrier(page);
    await page.mouse.move(x, y);
    const hover = page.locator(".hover", { hasText: "MPI_Barrier" });
    await hover.waitFor();
    assert.match(await hover.textContent(), /of 6 members.*for rank 3 the others waited/);
    await page.mouse.click(x, y);
    const said = chosen(page, "collective");
    const last = said.getByRole("button", { name: "Last to arrive: rank 3" });
    await last.waitFor();
    const text = await said.textContent();
    assert.match(text, /MPI_Barrier.*barrier on .*6 members/);
    assert.match(text, /waited longestrank \d: 7\.\d+ ms/);
    assert.doesNotMatch(text, /rank 3: \d/);
    await accessible(page, "a collective");
    const link = await page.evaluate(() => location.hash);
    await last.click();
    await chosen(page, "call")
        .filter({ hasText: /^MPI_Barrier on rank 3\D/ })
        .waitFor();
    await nameOf(page, 3).waitFor(); /* its lane was not shown */

    // By keyboard, from the link: it is chosen; to the last, and to who waited longest.
    await open(page, server, link.slice(1));
    await last.waitFor();
    await page.keyboard.press("]");
    await chosen(page, "call")
        .filter({ hasText: /^MPI_Barrier on rank 3\D/ })
        .waitFor();
    await page.keyboard.press("]"); /* the one it takes part in */
    await last.waitFor();
    await page.keyboard.press("[");
    await chosen(page, "call")
        .filter({ hasText: /^MPI_Barrier on rank [0-245]\D/ })
        .waitFor();
    await page.keyboard.press("Escape");
    await chosen(page, "call").waitFor({ state: "detached" });
}

/* The late call is of the colour of excess, the same call in time is not; and the pointer says by how much. */
async function excessIsColoured(page, server) {
    await open(page, server, "views=timeline&ranks=3,6&threads=2x&links=none");
    const choice = page.getByRole("combobox", { name: "Colour calls by" });
    await choice.focus();
    await choice.selectOption("excess");
    await page.waitForFunction(() => /calls-by=excess/.test(location.hash));
    const legend = page.getByLabel("Colours of calls");
    await legend.filter({ hasText: /up to .* or more.*not known/ }).waitFor();
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const at = async (rank, share) => {
        const lane = await nameOf(page, rank).boundingBox();
        return [canvas.x + left + share * (canvas.width - left), lane.y + 8 + 17];
    };
    const hover = page.locator(".hover");
    await page.mouse.move(...(await at(2, 0.5)));
    await hover
        .filter({ hasText: /^compute .*7\.\d+ ms longer than is typical on its path there/ })
        .waitFor();
    /* What most of the pixels around have: there may be a name in the call. */
    const colourAt = async ([x, y]) =>
        page.evaluate(
            ([px, py]) => {
                const of = document.querySelector(".timeline-canvas");
                const box = of.getBoundingClientRect();
                const scale = of.width / box.width;
                const { data } = of
                    .getContext("2d")
                    .getImageData(
                        (px - 10 - box.left) * scale,
                        (py - 4 - box.top) * scale,
                        21,
                        9,
                    );
                const count = new Map();
                for (let i = 0; i < data.length; i += 4) {
                    const colour = [...data.slice(i, i + 3)].join();
                    count.set(colour, (count.get(colour) ?? 0) + 1);
                }
                const [[most]] = [...count].sort((a, b) => b[1] - a[1]);
                return most.split(",").map(Number);
            },
            [x, y],
        );
    const late = await colourAt(await at(2, 0.5));
    assert.ok(late[0] > 200 && late[1] < 120, `vermilion: ${late}`);
    // Until it waits, rank 1 is as it always is.
    const usual = await colourAt(await at(1, 0.1));
    assert.ok(usual[0] > 230 && usual[1] > 170 && usual[2] < 190, `pale: ${usual}`);
    await accessible(page, "by excess");
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await threadsUnfold(page, server);
    await pinsStay(page, server);
    await ranksByLoss(page, server);
    await arrowsWalk(page, server);
    await collectivesAreFollowed(page, server);
    await excessIsColoured(page, server);
}
