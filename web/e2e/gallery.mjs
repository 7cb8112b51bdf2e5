// gallery.mjs -- screenshots of every view of five runs, in every size and both colour schemes: 1, 8, 1,000 and 10,000
// ranks, and ranks with threads. What lies over something else or is cut is said; the exit status is then 1.
//
//   SNAG=../build/release/snag node e2e/gallery.mjs DIR [RUN...]      ./setup.sh screenshots
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { launch } from "./launch.mjs";
import { launchBrowser, skipTour } from "./browser.mjs";
import { defects, schemes, settled, sizes, viewNames } from "./looks.mjs";
import { loaded, patienceMs } from "./steps.mjs";

const [folder, ...wanted] = process.argv.slice(2);
if (!folder || !process.env.SNAG) {
    console.error("usage: SNAG=snag node e2e/gallery.mjs DIR [RUN...]");
    process.exit(2);
}

const restMs = 150;
const ring = (n, ranks, late) =>
    `synth:${n}*step(compute@1ms(a 3*b) >1 <1);ranks=${ranks};jitter=0.05;slow=compute/7/9/${late}`;
const runs = {
    "1-rank": "synth:300*step(solve@1ms(a 3*b) io@200us);jitter=0.1;slow=solve/97/5",
    "8-ranks": ring(120, 8, 2),
    "1000-ranks": ring(20, 1000, 612),
    "10000-ranks": ring(20, 10000, 6120),
    hybrid: "synth:60*step(solve[compute@1ms a] >1 <1);ranks=4;threads=4;jitter=0.1;slow=compute/37/9/2",
};

/* Each alone, then those that are shown at first, then all. */
const looks = [
    ...viewNames.map((name) => [name, `views=${name}`]),
    ["first", ""],
    ["all", `views=${viewNames}`],
];

async function take(browser, url, run) {
    let wrong = 0;
    for (const colorScheme of schemes)
        for (const { name: size, width, height, ratio: deviceScaleFactor = 1 } of sizes) {
            const context = await browser.newContext({
                viewport: { width, height },
                colorScheme,
                deviceScaleFactor,
            });
            const page = await context.newPage();
            page.setDefaultTimeout(patienceMs);
            await skipTour(page);
            for (const [look, hash] of looks) {
                await page.goto("about:blank");
                await page.goto(`${url}#${hash}`);
                await loaded(page);
                await settled(page);
                await page.waitForTimeout(
                    restMs,
                ); /* for those who look: what fades has faded */
                const name = `${run}-${size.replace("%", "pc")}-${colorScheme}-${look}.png`;
                await page.screenshot({ path: path.join(folder, name) });
                const found = await page.evaluate(defects);
                for (const text of found) console.log(`${name}: ${text}`);
                wrong += found.length;
            }
            await context.close();
        }
    return wrong;
}

await mkdir(folder, { recursive: true });
const place = await mkdtemp(path.join(tmpdir(), "snag-gallery-"));
const browser = await launchBrowser();
let wrong = 0;
try {
    for (const [run, program] of Object.entries(runs)) {
        if (wanted.length && !wanted.includes(run)) continue;
        const args = ["analyze", program, "--foi", "step", "-o", `${run}.snag`, "--quiet"];
        await promisify(execFile)(process.env.SNAG, args, { cwd: place });
        const served = await launch(
            process.env.SNAG,
            ["serve", `${run}.snag`, "--port", "0"],
            place,
        );
        wrong += await take(browser, served.url, run);
        await served.end();
        console.log(
            `${run}: ${schemes.length * sizes.length * looks.length} pictures in ${folder}`,
        );
    }
} finally {
    await browser.close();
    await rm(place, { recursive: true });
}
process.exit(wrong ? 1 : 0);
