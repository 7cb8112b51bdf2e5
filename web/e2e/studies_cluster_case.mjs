// Case study 2: a cluster that was judged normal, found in the overview and labelled at once.
import { assert, drawLasso, loaded, told } from "./steps.mjs";

export const name =
    "case 2: t-SNE moves, a cluster is chosen by lasso and labelled, and undone";

export async function run({ page, server }) {
    await loaded(page);
    await page.locator(".panel-overview select").first().selectOption("tsne");
    const compute = page.getByRole("button", { name: "Compute it", exact: true });
    await Promise.race([compute.waitFor(), page.locator(".scatter").waitFor()]);
    if (await compute.isVisible()) {
        await compute.click();
        await page
            .getByText(/placing the points/)
            .first()
            .waitFor();
        await page
            .getByText(/placing the points/)
            .first()
            .waitFor({ state: "detached", timeout: 120000 });
    }
    await page.locator(".scatter").waitFor();
    await page.waitForTimeout(500);

    await drawLasso(page, 0.5, 0.5, 0.999, 0.999);
    const chosen = page.locator(".chosen");
    await chosen.waitFor();
    const n = Number(/([\d,]+) execution/.exec(await chosen.textContent())[1].replace(",", ""));
    assert.ok(n >= 1);
    await page.waitForFunction(() => /lasso=/.test(location.hash));

    await told(page, /labelled abnormal/, () =>
        chosen.getByRole("button", { name: "Abnormal" }).click(),
    );
    await told(page, /Learnt from/, () =>
        page
            .getByRole("button", { name: /^Retrain/ })
            .first()
            .click(),
    );

    await told(page, /ranking is as before/, () => page.keyboard.press("u"));
    await told(page, /as before/, () => page.keyboard.press("u"));
    await page.waitForFunction(() => !document.querySelector('.detail [aria-pressed="true"]'));

    // Anomalies only: it says how many points are not drawn.
    await page.keyboard.press("Escape");
    await page.locator(".sampling input").fill("0");
    await page.getByText(/points hidden/).waitFor();
}
