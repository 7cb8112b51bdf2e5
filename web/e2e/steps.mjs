// steps.mjs -- what the cases have in common.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

/* What is not there by then never comes, on however busy a machine. */
export const patienceMs = 90000;

export const candidates = (page) => page.locator(".candidate");
export const detail = (page) => page.getByRole("region", { name: "Selected execution" });

/* As the page says an exact time: "26.319442 ms". */
export function exactly(ns) {
    if (ns < 1e3) return `${ns} ns`;
    const [scale, unit, digits] =
        ns < 1e6 ? [1e3, "us", 3] : ns < 1e9 ? [1e6, "ms", 6] : [1e9, "s", 9];
    return `${(ns / scale).toFixed(digits)} ${unit}`;
}

export async function loaded(page) {
    await candidates(page).first().waitFor();
    await detail(page).locator("h1").waitFor();
}

let nth = 0;

/* The page anew, as another hash alone would not load it: by an address that differs in what nobody asks for. Through
   about:blank the browser would start another process, which takes as long as the page itself. */
export async function openAnew(page, url) {
    const [place, hash] = String(url).split("#");
    await page.goto(`${place}?n=${++nth}${hash === undefined ? "" : `#${hash}`}`);
}

/* Of views that share a place the one with that title. */
export const toFront = (page, title) =>
    page.locator(".tabs").getByRole("button", { name: title, exact: true }).click();

/* The page anew, with executions one by one in its list, the strangest first. */
export async function openStrangest(page, server) {
    await openAnew(page, `${server.url}#list=:::score`);
    await loaded(page);
}

/* With its last route the browser stops asking who answers, and where that starts again at once, requests of the
   next page pass unasked. So a case that takes routes away has one that stays. */
export async function keepRouting(page) {
    await page.route("http://nobody.invalid/", (route) => route.abort());
}

/* The list as it is now: ids, in order. */
export const listed = (page) => page.locator(".candidate .pick b").allTextContents();

export async function selectedId(page) {
    return (await detail(page).locator("h1").textContent()).trim().split(/\s+/)[0];
}

/* The choices of the filter are shown. */
export async function openFilter(page) {
    const button = page.getByRole("button", { name: /^Filter/ });
    if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
}

/* By one of them: "Rank", "Function", ... */
export async function filterBy(page, name, value) {
    await openFilter(page);
    await page.getByRole("combobox", { name, exact: true }).selectOption(value);
}

/* Does it, and waits until a notice says something that matches. */
export async function told(page, pattern, act) {
    await act();
    await page.locator(".notice", { hasText: pattern }).waitFor();
}

/* Waits until test(), asked again and again, is true: a page shows things a little later. */
export async function until(what, test) {
    const end = Date.now() + patienceMs;
    while (!(await test())) {
        assert.ok(Date.now() < end, what);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

/* Share of the pixels of a canvas that are not transparent; none of one that is not there yet. */
export function inked(page, selector) {
    return page.evaluate((s) => {
        const canvas = document.querySelector(s);
        if (!canvas) return 0;
        const whole = document.createElement("canvas");
        whole.width = canvas.width;
        whole.height = canvas.height;
        whole.getContext("2d").drawImage(canvas, 0, 0);
        const { data } = whole.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let n = 0;
        for (let i = 3; i < data.length; i += 4) if (data[i]) n++;
        return n / (data.length / 4);
    }, selector);
}

/* Draws around the part of the overview given as shares of its size. */
export async function drawLasso(page, x0, y0, x1, y1) {
    await page.getByRole("button", { name: "Lasso" }).click();
    const box = await page.locator(".scatter").boundingBox();
    const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
    await page.mouse.move(...at(x0, y0));
    await page.mouse.down();
    for (const [x, y] of [
        [x1, y0],
        [x1, y1],
        [x0, y1],
        [x0, y0],
    ])
        await page.mouse.move(...at(x, y), { steps: 6 });
    await page.mouse.up();
}

export async function stateOf(page, id, label) {
    return page
        .getByRole("button", { name: new RegExp(`^${label} ${id}`) })
        .first()
        .getAttribute("aria-pressed");
}

export { assert };

/* What the button of that name saves. */
export async function savedBy(page, name) {
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
    ]);
    return readFile(await download.path());
}

/* A view as SVG, which has to be well-formed, and as PNG, which has to show something. */
export async function picturesAreRight(page, view, pattern, save) {
    const svg = String(await save(`${view} as SVG`));
    assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.match(svg, pattern, view);
    const wrong = await page.evaluate(
        (text) =>
            new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror")
                ?.textContent,
        svg,
    );
    assert.equal(wrong, undefined, view);
    const png = await save(`${view} as PNG`);
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    const colours = await page.evaluate(async (base64) => {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, image.width, image.height);
        return new Set(new Uint32Array(data.buffer)).size;
    }, png.toString("base64"));
    assert.ok(colours > 20, `${view}: ${colours} colours`);
    return svg;
}

/* How many are listed, as the head of the list says. */
export async function listedTotal(page) {
    const said = await page.locator(".list-head small").textContent();
    return Number(/(\d[\d,]*)/.exec(said)[1].replaceAll(",", ""));
}
