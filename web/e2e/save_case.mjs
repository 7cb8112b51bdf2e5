// What can be saved, and a server that goes away and comes back.
import { readFile } from "node:fs/promises";
import { assert, loaded, told } from "./steps.mjs";

export const name = "saving: labels, pictures; the page says when the server is away";

async function saved(page, what) {
    await page.locator(".actions .menu summary").click();
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator(".actions .menu").getByText(what).click(),
    ]);
    return readFile(await download.path());
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
    assert.match(
        String(await saved(page, "Structure (SVG)")),
        /^<svg[^>]*xmlns.*<rect[^>]*fill="rgb/s,
    );
    assert.equal((await saved(page, "Timeline (PNG)")).subarray(1, 4).toString(), "PNG");
    assert.equal((await saved(page, "Overview (PNG)")).subarray(1, 4).toString(), "PNG");

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
