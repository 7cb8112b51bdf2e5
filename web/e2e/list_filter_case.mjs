// The list, the overview and the functions of a time alone; and a filter that nothing passes any more is left.
import {
    assert,
    candidates,
    filterBy,
    listedTotal,
    loaded,
    openAnew,
    told,
    until,
} from "./steps.mjs";

export const name = "filter: by a time, which list, overview and regions follow";

const chip = (page) => page.locator(".chip");

/* How many executions have a part in a time, counted from the columns. */
const inTime = (page, begin, end) =>
    page.evaluate(
        async ([from, until]) => {
            const { items } = await (await fetch("api/v1/fois/1/candidates?limit=1000")).json();
            return items.filter(
                ({ enter_ns, duration_ns }) =>
                    enter_ns < until && (enter_ns >= from || enter_ns + duration_ns > from),
            ).length;
        },
        [begin, end],
    );

async function byButton(page, server) {
    const [begin, end] = [60000000, 70000000];
    await openAnew(
        page,
        `${server.url}#views=overview,timeline,regions&list=:::score&window=${begin},${end}`,
    );
    await loaded(page);
    const all = await listedTotal(page);
    const expected = await inTime(page, begin, end);
    assert.ok(expected > 0 && expected < all / 4, `${expected} of ${all}`);
    const only = page.getByRole("button", { name: "Only this window" });
    await only.click();
    await chip(page).filter({ hasText: "60.0 ms to 70.0 ms" }).waitFor();
    await until("the list is of that time", async () => (await listedTotal(page)) === expected);
    await page.locator(".sampling", { hasText: `${all - expected} points hidden` }).waitFor();
    const step = page.locator(".panel-regions tbody tr", { hasText: /^step/ });
    await until(
        "the functions, too",
        async () => (await step.locator("td").nth(1).textContent()) === String(expected),
    );
    assert.equal(await only.getAttribute("aria-pressed"), "true");

    // The link has it.
    await page.waitForFunction(() => location.hash.includes("60000000-70000000"));
    await openAnew(page, page.url().replace(/\?n=\d+/, ""));
    await loaded(page);
    await until(
        "the list is of that time again",
        async () => (await listedTotal(page)) === expected,
    );
    await page.getByRole("button", { name: "All times" }).click();
    await until("all are listed again", async () => (await listedTotal(page)) === all);
    await page.keyboard.press("o");
    await chip(page).waitFor();
    await page.keyboard.press("o");
    await chip(page).waitFor({ state: "detached" });
    await page.waitForFunction(
        () => !/list=[^&]*\d-\d/.test(location.hash),
    ); /* it rests first */
}

async function byBrush(page) {
    const box = await page.locator(".minimap canvas").boundingBox();
    const y = box.y + box.height / 2;
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await chip(page).waitFor();
    await page.waitForFunction(() => /list=[^&]*\d-\d/.test(location.hash));
    const [begin, end] = await page.evaluate(
        () =>
            /(\d+)-(\d+)/
                .exec(new URLSearchParams(location.hash.slice(1)).get("list") ?? "")
                ?.slice(1)
                .map(Number) ?? [0, 0],
    );
    const { end_ns } = await page.evaluate(async () => (await fetch("api/v1/run")).json());
    assert.ok(Math.abs(begin / end_ns - 0.25) < 0.02, String(begin / end_ns));
    assert.ok(Math.abs(end / end_ns - 0.5) < 0.02, String(end / end_ns));
    await page.getByRole("button", { name: "All times" }).click();
}

/* The only execution that is labelled is not any more. */
async function emptied(page) {
    await filterBy(page, "Label", "normal");
    await page
        .locator(".candidates .state", { hasText: "No execution is like that." })
        .waitFor();
    await filterBy(page, "Label", "");
    await candidates(page).first().waitFor();
    await told(page, "labelled normal", () => page.keyboard.press("n"));
    await filterBy(page, "Label", "normal");
    await until("one is listed", async () => (await listedTotal(page)) === 1);
    await page.keyboard.press("u");
    await page.locator(".notice", { hasText: "all are shown" }).waitFor();
    await until("all are", async () => (await listedTotal(page)) > 1);
    assert.equal(await page.getByRole("combobox", { name: "Label" }).inputValue(), "");
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1920, height: 1080 }); /* two views beside each other */
    await loaded(page);
    await byButton(page, server);
    await byBrush(page);
    await emptied(page);
}
