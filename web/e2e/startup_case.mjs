// Case study 3: the first execution on each rank is rare, but as it should be.
import { assert, candidates, filterBy, listed, openStrangest, told } from "./steps.mjs";

export const name = "case 3: one start-up execution is labelled normal, and the others go";

const anomalies = async (page) =>
    Number(
        /(\d[\d,]*) anomal/
            .exec(await page.locator(".headline").textContent())[1]
            .replace(",", ""),
    );

export async function run({ page, server }) {
    await openStrangest(page, server);
    await filterBy(page, "Verdict", "anomaly");
    await page.waitForTimeout(400);
    const before = await listed(page);
    const id = before[0];
    const many = await anomalies(page);

    await told(page, /labelled normal/, () =>
        page
            .getByRole("button", { name: new RegExp(`^Normal ${id}$`) })
            .first()
            .click(),
    );
    await told(page, /Learnt from 1 label/, () =>
        page
            .getByRole("button", { name: /^Retrain/ })
            .first()
            .click(),
    );
    await page
        .waitForFunction(
            (old) => !document.querySelector(".candidates ol")?.textContent.includes(old),
            `${id} `,
        )
        .catch(() => undefined);
    await page.waitForTimeout(400);
    const after = await listed(page);
    assert.ok(!after.includes(id), "it is no anomaly any more");
    assert.ok((await anomalies(page)) < many);

    await filterBy(page, "Label", "normal");
    await filterBy(page, "Verdict", "");
    await page.waitForTimeout(400);
    assert.deepEqual(await listed(page), [id]);
    assert.equal(await candidates(page).count(), 1);
}
