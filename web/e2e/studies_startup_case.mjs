// Case study 3: the first execution on each rank is rare, but as it should be.
import { filterBy, listed, openStrangest, told, until } from "./steps.mjs";

export const name = "case 3: one start-up execution is labelled normal, and the others go";

const anomalies = async (page) =>
    Number(
        /(\d[\d,]*) anomal/
            .exec(await page.locator(".headline").textContent())?.[1]
            .replace(",", ""),
    );

export async function run({ page, server }) {
    await openStrangest(page, server);
    await filterBy(page, "Verdict", "anomaly");
    let id; /* the strangest is the first of anomalies, too */
    await until("anomalies are listed", async () => ([id] = await listed(page))[0]);
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
    await until("it is no anomaly any more", async () => {
        const after = await listed(page);
        return after.length > 0 && !after.includes(id) && (await anomalies(page)) < many;
    });

    await filterBy(page, "Label", "normal");
    await filterBy(page, "Verdict", "");
    await until("it alone is listed", async () => String(await listed(page)) === id);
}
