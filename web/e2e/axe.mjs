// axe.mjs -- nothing that axe calls serious, or nothing at all.
import axe from "axe-core";
import assert from "node:assert/strict";

/* Neither loading nor half faded in, which no colour is made for. */
async function rests(page) {
    await page.waitForFunction(
        () => !document.querySelector(".state.loading, [aria-busy=true]:not(canvas)"),
    );
    await page.evaluate(() => {
        for (const animation of document.getAnimations())
            if (animation.effect.getTiming().iterations !== Infinity) animation.finish();
    });
}

const anything = () => true;
const serious = ({ impact }) => impact === "serious" || impact === "critical";

/* All that it has rules for; in dark, where all but the colours is as it was in light, what these have to do with. */
// What is right is not described: a third of the time.
const inLight = { resultTypes: ["violations"] };
const inDark = { ...inLight, runOnly: ["color-contrast", "link-in-text-block"] };

export const accessible = (page, what) => nothingOf(serious, page, what);
export const nothingFound = (page, what) => nothingOf(anything, page, what);

async function nothingOf(counts, page, what) {
    await rests(page);
    // The policy of the page forbids scripts in the page: axe comes by the debugger.
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(
        ([light, dark]) =>
            window.axe.run(
                document,
                matchMedia("(prefers-color-scheme: dark)").matches ? dark : light,
            ),
        [inLight, inDark],
    );
    assert.deepEqual(
        violations.filter(counts).map(
            (v) =>
                `${what}: ${v.id}: ${v.nodes
                    .map((n) => n.target + " " + n.failureSummary)
                    .slice(0, 3)
                    .join("; ")}`,
        ),
        [],
    );
}
