// What axe finds, in both colour schemes, with all views, the help and the tour.
import { accessible as check } from "./axe.mjs";
import { assert, loaded, selectedId } from "./steps.mjs";

export const name = "accessible: axe finds nothing serious, all can be reached by the keyboard";
export const options = { showsTour: true };

export async function run({ page }) {
    await loaded(page);
    assert.match(await page.locator(".tour").textContent(), /1 of 5/);
    await check(page, "tour");
    for (let i = 0; i < 5; i++) await page.locator(".tour .primary").click();
    await page.locator(".tour").waitFor({ state: "detached" });
    await page.reload();
    await loaded(page);
    assert.equal(await page.locator(".tour").count(), 0, "seen once, never again");

    await page.evaluate(
        () =>
            (location.hash =
                "views=overview,why,structure,timeline,ranks,regions,quality,messages,query"),
    );
    await page.reload();
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(300);
        await check(page, colorScheme);
    }
    await page.keyboard.press("/");
    await page.keyboard.type("co");
    await page.locator("#found li").first().waitFor();
    await check(page, "find");
    await page.keyboard.press("Escape");
    await page.locator(".menu.ranks summary").click();
    await check(page, "ranks shown");
    await page.keyboard.press("Escape");
    await page.locator(".menu.ranks:not([open])").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Help" }).waitFor();
    await check(page, "help");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Help" }).waitFor({ state: "hidden" });

    // From the top of the page Tab reaches the list, in one stop; down goes to the second of its entries, and Enter selects it.
    const isThere = (element) => element.evaluate((e) => e === document.activeElement);
    const first = page.locator(".candidate .pick").first();
    const second = page.locator(".candidate .pick").nth(1);
    await page.reload();
    await loaded(page);
    for (let i = 0; i < 40 && !(await isThere(first)); i++) await page.keyboard.press("Tab");
    assert.ok(await isThere(first), "the first candidate is within 40 steps of Tab");
    await page.keyboard.press("ArrowDown");
    for (let i = 0; i < 200 && !(await isThere(second)); i++)
        await page.keyboard.press("ArrowDown"); /* over what is in an open incident */
    assert.ok(await isThere(second));
    const before = await selectedId(page);
    await page.keyboard.press("Enter");
    await page
        .locator('.candidate:nth-child(2) .pick[aria-pressed="true"]')
        .waitFor(); /* as the head says */
    assert.notEqual(await selectedId(page), before);
}
