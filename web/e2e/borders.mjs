// Borders of pages whose views are always the same: dragged as those of a run's page are, and kept; and links that skip.
import { assert, until } from "./steps.mjs";

const border = (page, name) => page.getByRole("separator", { name, exact: true });

async function heightOf(page, view) {
    return (await page.locator(`#view-${view}`).boundingBox()).height;
}

/* By the mouse, by a key; after loading anew it is as it was left, and Enter makes it usual again. */
export async function dragged(page, view, label) {
    await border(page, label).hover(); // when it has come to where it stays, as after another size of the window
    const usual = await heightOf(page, view);
    const { x, y, width, height } = await border(page, label).boundingBox();
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + height / 2 + 40, { steps: 4 });
    await page.mouse.up();
    const is = (what, wanted) =>
        until(
            `${what}: ${wanted}`,
            async () => Math.abs((await heightOf(page, view)) - wanted) <= 2,
        );
    await is("dragged", usual + 40);
    await border(page, label).focus();
    await page.keyboard.press("ArrowUp");
    await is("one step back", usual + 40 - 26);
    await page.reload();
    await page.locator(`#view-${view}`).waitFor();
    await is("loaded anew", usual + 40 - 26);
    await border(page, label).focus();
    await page.keyboard.press("Enter");
    await is("as usual", usual);
}

export async function skips(page, says, id) {
    await page.evaluate(() => document.activeElement?.blur());
    const link = page.getByRole("link", { name: says, exact: true });
    await link.focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), id);
    assert.ok(!page.url().includes(id), "the link keeps the state of the page");
}
