// screenshots.mjs -- the pictures of docs/images, from a server that runs: the overview, structure
// and timeline, and why, 1280 x 720, in both colour schemes.
//
//   snag serve run.snag --port 8321 &
//   node e2e/screenshots.mjs http://127.0.0.1:8321/ ../docs/images
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { launchBrowser, skipTour, viewport } from "./browser.mjs";
import { loaded } from "./steps.mjs";

const [url, folder] = process.argv.slice(2);
if (!folder) {
    console.error("usage: node e2e/screenshots.mjs URL DIR");
    process.exit(2);
}

/* Names of files, the views they show, and what has to be there first. */
const pictures = [
    ["overview", "overview", [".scatter"]],
    ["structure-timeline", "structure,timeline", [".icicle", ".timeline-canvas"]],
    ["why", "why,structure,timeline", [".paths button", ".timeline-canvas"]],
];

async function takeAll(browser, colorScheme) {
    const context = await browser.newContext({ viewport, colorScheme });
    const page = await context.newPage();
    await skipTour(page);
    for (const [name, views, needed] of pictures) {
        await page.goto("about:blank"); /* another hash alone would not load anew */
        await page.goto(`${url}#views=${views}`);
        await loaded(page);
        for (const selector of needed) await page.locator(selector).first().waitFor();
        if (name === "why") await page.locator(".paths button").first().click();
        await page.mouse.move(0, 0);
        await page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => undefined);
        await page.waitForTimeout(300);
        const file = path.join(folder, `${name}-${colorScheme}.png`);
        await page.screenshot({ path: file });
        console.log(file);
    }
    await context.close();
}

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
    for (const colorScheme of ["light", "dark"]) await takeAll(browser, colorScheme);
} finally {
    await browser.close();
}
