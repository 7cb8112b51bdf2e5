// The page of a job whose ranks have an instance each: which of them is slow, as the page of a run says it.
import { accessible } from "./axe.mjs";
import { assert, until } from "./steps.mjs";

export const name = "job: which rank is slow in all it does, of six instances";
export const options = {
    job: {
        program:
            "synth:400*step(compute@1ms(a 3*b) >1 <1);ranks=6;jitter=0.1;slow=compute/1/1.3/4",
        ranks: 6,
    },
};

export async function run({ page }) {
    // What was told last is published a little later; then all agree.
    await page.locator(".headline", { hasText: /19,200 calls of 6 ranks/ }).waitFor();
    await page.locator(".live-differing").waitFor({ state: "detached" });
    const slow = page.locator(".live-slow");
    await slow.locator("p", { hasText: /^6 ranks: 1 slow, / }).waitFor();
    const cells = await slow.locator("tbody tr").first().locator("td").allTextContents();
    assert.equal(cells[0], "rank 4");
    assert.equal(cells[1], "slow");
    assert.match(cells[2], /^(29|30|31)\.\d %$/);
    assert.match(cells[3], /^compute \+(29|30|31) % \(/);
    await slow.getByRole("button", { name: "rank 4", exact: true }).click();
    await page.waitForFunction(() => /rank=4/.test(location.hash));
    await until("records of that rank alone", async () =>
        (await page.locator(".live-query tbody td:nth-child(2)").allTextContents()).every(
            (rank) => rank === "4",
        ),
    );
    await accessible(page, "the job");
}
