// Nothing lies over anything else and no text is cut, in narrow and wide windows, light and dark; and axe finds
// nothing at all, with each menu and dialogue open.
import { nothingFound } from "./axe.mjs";
import { assert, loaded, openAnew } from "./steps.mjs";
import { defects, schemes, settled, sizes, viewNames } from "./looks.mjs";

export const name = "looks: no overlap, no cut text, enough contrast, menus and dialogues open";

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    await settled(page);
}

export async function run({ page, server }) {
    const few = sizes.filter(
        ({ width }) => process.env.SNAG_LONG || [390, 1280, 1920].includes(width),
    );
    for (const { name: size, width, height } of few) {
        await page.setViewportSize({ width, height });
        for (const hash of ["", `views=${viewNames}`]) {
            await open(page, server, hash);
            assert.deepEqual(await page.evaluate(defects), [], `${size}, ${hash}`);
        }
    }
    await page.setViewportSize({ width: 1400, height: 900 });

    // Panes as small as they can be made.
    await open(page, server, "");
    for (const border of await page.getByRole("separator").all()) {
        await border.focus();
        await page.keyboard.press("Home");
    }
    await settled(page);
    assert.deepEqual(await page.evaluate(defects), [], "all panes at their least");
    for (const border of await page.getByRole("separator").all()) {
        await border.focus();
        await page.keyboard.press("Enter");
    }

    // What it looks for it finds.
    await page.evaluate(() => {
        const { style } = document.querySelector(".headline");
        Object.assign(style, {
            display: "inline-block",
            width: "3rem",
            overflow: "hidden",
            whiteSpace: "nowrap",
        });
        document.querySelector(".actions").style.marginLeft = "-4rem";
        document.querySelector(".candidate .pick .verdict").style.marginLeft = "40rem";
    });
    const planted = await page.evaluate(defects);
    assert.ok(
        planted.some((text) => /headline.* is cut/.test(text)),
        planted.join(),
    );
    assert.ok(
        planted.some((text) => / overlap$/.test(text)),
        planted.join(),
    );
    assert.ok(
        planted.some((text) => / stands out of button/.test(text)),
        planted.join(),
    );
    await open(page, server, `views=${viewNames}`);
    for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        await nothingFound(page, colorScheme);
        for (const menu of [".actions .menu", ".menu.ranks"]) {
            await page.locator(`${menu} > summary`).click();
            await nothingFound(page, `${colorScheme}, ${menu}`);
            await page.keyboard.press("Escape");
        }
        await page.setViewportSize({ width: 800, height: 900 });
        const folded = page.locator(".views-menu");
        await folded.locator("summary").click();
        await nothingFound(page, `${colorScheme}, views folded`);
        await folded.getByRole("button", { name: "Ranks", exact: true }).click();
        await page.locator(".panel-ranks").waitFor({ state: "detached" });
        await folded.getByRole("button", { name: "Ranks", exact: true }).click();
        await page.locator(".panel-ranks").waitFor();
        await page.locator(".run-name").click(); /* beside the menu */
        assert.equal(await page.locator(".views-menu[open]").count(), 0);
        await page.setViewportSize({ width: 1400, height: 900 });
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Help" }).waitFor();
        await nothingFound(page, `${colorScheme}, help`);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog", { name: "Help" }).waitFor({ state: "hidden" });
    }
}
