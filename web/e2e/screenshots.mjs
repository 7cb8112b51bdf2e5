// screenshots.mjs -- the pictures of docs/images, from a server that runs: the overview, structure
// and timeline, and why, 1280 x 720, in both colour schemes.
//
//   snag serve run.snag --port 8321 &
//   node e2e/screenshots.mjs http://127.0.0.1:8321/ ../docs/images
//   SNAG=../build/release/snag node e2e/screenshots.mjs live ../docs/images
//
// live: the page of a program that is over, the same each time.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { launch } from "./launch.mjs";
import { launchBrowser, skipTour, viewport } from "./browser.mjs";
import { loaded } from "./steps.mjs";

const [url, folder] = process.argv.slice(2);
if (!folder) {
    console.error("usage: node e2e/screenshots.mjs URL|live DIR");
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

/* Six ranks; now and then one computes for far longer than usual, and the others wait for it. */
const program =
    "synth:8000*step(compute@1ms(a 3*b) exchange@50us(>1 <1) c@200us);ranks=6;jitter=0.1;" +
    "slow=compute/1700/12/2;slow=c/900/40/4";

/* One that waited: why, structure, and both ranks over time. */
async function lookAtOne(page) {
    const row = page.locator(".live-query tbody tr", { hasText: "MPI_Recv" }).first();
    await row.getByRole("button").click();
    await page.locator(".live-timeline canvas").waitFor();
}

async function takeLive(browser) {
    const place = await mkdtemp(path.join(tmpdir(), "snag-picture-"));
    const args = ["watch", `replay:${program}`, "--speed", "0", "--port", "0"];
    const server = await launch(process.env.SNAG, [...args, "--store", path.join(place, "s")]);
    try {
        const page = await browser.newPage({ viewport, colorScheme: "light" });
        await page.goto(server.url);
        await page.locator(".live-state", { hasText: "over" }).waitFor({ timeout: 60000 });
        await page.waitForTimeout(1000);
        await lookAtOne(page);
        await page.mouse.move(0, 0);
        await page.waitForTimeout(500);
        const file = path.join(folder, "live.png");
        await page.screenshot({ path: file });
        console.log(file);
    } finally {
        await server.end();
        await rm(place, { recursive: true });
    }
}

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
    if (url === "live") await takeLive(browser);
    else for (const colorScheme of ["light", "dark"]) await takeAll(browser, colorScheme);
} finally {
    await browser.close();
}
