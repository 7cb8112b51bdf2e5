// What can be saved, and a server that goes away and comes back.
import { readFile } from "node:fs/promises";
import { assert, loaded, told } from "./steps.mjs";

export const name = "saving: labels, pictures; the page says when the server is away";

async function saved(page, what) {
    await page.locator(".actions .menu summary").click();
    const menu = page.locator(".actions .menu");
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        menu
            .getByRole("link", { name: what })
            .or(menu.getByRole("button", { name: what }))
            .click(),
    ]);
    return readFile(await download.path());
}

/* As SVG, which has to be well-formed, and as PNG, which has to show something. */
async function picturesAreRight(page, view, pattern) {
    const svg = String(await saved(page, `${view} (SVG)`));
    assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.match(svg, pattern, view);
    const wrong = await page.evaluate(
        (text) =>
            new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror")
                ?.textContent,
        svg,
    );
    assert.equal(wrong, undefined, view);
    const png = await saved(page, `${view} (PNG)`);
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
}

export async function run({ page, server }) {
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
    await page.locator(".icicle").first().waitFor();
    await told(page, /labelled abnormal/, () => page.keyboard.press("b"));
    assert.match(
        String(await saved(page, "Labelled executions")),
        /id,label[^\n]*\n"?#.*abnormal/,
    );
    for (const [view, pattern] of [
        ["Overview", /<path d="M[\d. -]+a[^>]*fill="rgb/],
        ["Structure", /<svg[^>]*viewBox.*<rect[^>]*fill="rgb.*a typical execution/s],
        ["Timeline", /<clipPath.*<rect[^>]*fill="rgb.*>rank \d+</s],
    ])
        await picturesAreRight(page, view, pattern);
    await page.locator(".panel-structure select").selectOption("force");
    await picturesAreRight(page, "Structure", /<circle[^>]*fill="rgb/);

    await server.goAway();
    await page.locator(".offline").waitFor();
    await page.keyboard.press("j");
    await page.locator(".detail .failed").waitFor();
    assert.ok(await page.locator(".candidate").count(), "what was there can still be seen");
    await server.comeBack();
    await page.locator(".offline").waitFor({ state: "detached" });
    await page.locator(".detail h1").waitFor();
    await told(page, /labelled normal/, () => page.keyboard.press("n"));
}
