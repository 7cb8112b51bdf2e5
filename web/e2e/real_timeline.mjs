// real_timeline.mjs -- what the page says of a counter and of a launch of real traces, against what is known of them:
//
//   PAPI=URL JOB=URL COUNTER=NAME FROM=NS UNTIL=NS RATE=PER_S CALL=LOCATION.ROW DELAY=NS node real_timeline.mjs
//
// Between the two times the counter of the first location grew at that rate. Exits with 77 when there is no browser.
import { launchBrowser, skipTour } from "./browser.mjs";
import { assert, exactly, loaded, patienceMs } from "./steps.mjs";

const { PAPI, JOB, COUNTER, FROM, UNTIL, RATE, CALL, DELAY } = process.env;

async function counter(page) {
    const [from, until] = [Number(FROM), Number(UNTIL)];
    const window = [from - (until - from), until + (until - from)].map(Math.round);
    await page.goto(`${PAPI}#views=timeline&ranks=0&window=${window}&counter=${COUNTER}`);
    await loaded(page);
    await page
        .getByRole("status", { name: "Counter" })
        .filter({ hasText: /per second/ })
        .waitFor();
    const canvas = page.locator(".timeline-canvas");
    const box = await canvas.boundingBox();
    const hover = page.locator(".hover");
    for (let y = 20; y < box.height; y += 6) {
        await page.mouse.move(box.x + box.width * 0.54, box.y + y);
        const text = await hover.innerText({ timeout: 100 }).catch(() => "");
        const [, rate] = new RegExp(`^${COUNTER} ([\\d,]+) per second`).exec(text) ?? [];
        if (!rate) continue;
        const said = Number(rate.replaceAll(",", ""));
        assert.ok(Math.abs(said / Number(RATE) - 1) < 1e-3, `${said}, by otf2-print ${RATE}`);
        return;
    }
    assert.fail("the counter is not under the pointer");
}

async function launch(page) {
    await page.goto(`${JOB}#views=timeline&call=${CALL}`);
    await loaded(page);
    const said = page.getByRole("region", { name: "Selected call" });
    const delay = `delay ${exactly(Number(DELAY))}`;
    await said.filter({ hasText: "launched by" }).filter({ hasText: delay }).waitFor();
    assert.match((await said.innerText()).replace(/\s+/g, " "), /kind on a GPU/);
}

const browser = await launchBrowser();
const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
context.setDefaultTimeout(patienceMs);
let failed = 0;
for (const look of [counter, launch]) {
    const page = await context.newPage();
    await skipTour(page);
    try {
        await look(page);
        console.log(`ok      ${look.name}`);
    } catch (error) {
        console.log(`FAILED  ${look.name}\n${error.stack}`);
        failed = 1;
    }
}
await browser.close();
process.exit(failed);
