// screenshots.mjs -- the pictures of docs/images, 1280 x 720: the page of a run as it opens, the same with a call
// chosen, in the dark; and the page of a program that is over, the same each time.
//
//   SNAG=../build/release/snag node e2e/screenshots.mjs RUN DIR      ./setup.sh screenshots: of the demo
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { launch } from "./launch.mjs";
import { launchBrowser, skipTour, viewport } from "./browser.mjs";
import { loaded } from "./steps.mjs";

const [run, folder] = process.argv.slice(2);
if (!folder || !process.env.SNAG) {
    console.error("usage: SNAG=snag node e2e/screenshots.mjs RUN DIR");
    process.exit(2);
}

/* Names of files, and the key that is pressed first. */
const pictures = [
    ["run", "light", null],
    ["call", "dark", "g"],
];

async function save(page, name) {
    await page.mouse.move(0, 0);
    await page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => undefined);
    await page.waitForTimeout(500);
    const file = path.join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    console.log(file);
}

async function takeRun(browser) {
    const server = await launch(process.env.SNAG, ["serve", run, "--port", "0"]);
    try {
        for (const [name, colorScheme, key] of pictures) {
            const context = await browser.newContext({ viewport, colorScheme });
            const page = await context.newPage();
            await skipTour(page);
            await page.goto(server.url);
            await loaded(page);
            await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
            if (key) {
                await page.keyboard.press(key);
                await page.getByRole("region", { name: "Selected call" }).waitFor();
            }
            await save(page, name);
            await context.close();
        }
    } finally {
        await server.end();
    }
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
        const page = await browser.newPage({
            viewport: { ...viewport, height: 800 } /* all of it is seen with a call chosen */,
            colorScheme: "light",
        });
        await page.goto(server.url);
        await page.locator(".live-state", { hasText: "over" }).waitFor({ timeout: 60000 });
        await page.waitForTimeout(1000);
        await lookAtOne(page);
        await save(page, "live");
    } finally {
        await server.end();
        await rm(place, { recursive: true });
    }
}

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
try {
    await takeRun(browser);
    await takeLive(browser);
} finally {
    await browser.close();
}
