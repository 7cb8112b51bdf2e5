// The tasks of tasks.md on 1,000 ranks.
import { assert, detail, doTasks, findText, inSight } from "./tasks.mjs";

export const name = "tasks: of 1,000 ranks, which it was, and going to one";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:20*step(compute@1ms(a 3*b) >1 <1);ranks=1000;jitter=0.05;slow=compute/7/9/612";
        await snag("analyze", program, "--foi", "step", "-o", "ring.snag", "--quiet");
        return ["ring.snag"];
    },
};

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    const lane = (rank) => page.locator(".rank-name", { hasText: new RegExp(`rank ${rank}$`) });
    await doTasks(page, server, "thousand", [
        {
            number: 23,
            mouse: (hand) => findText(hand, "mouse", "rank 700"),
            keyboard: (hand) => findText(hand, "keyboard", "rank 700"),
            answer: () => inSight(lane(700)),
        },
        {
            number: 24,
            answer: async () => {
                assert.match(
                    await inSight(detail(page).locator(".origin")),
                    /rank 612: compute/,
                );
                for (const rank of [611, 612, 613]) await inSight(lane(rank));
            },
        },
    ]);

    // Lanes by a text, neighbours by a click.
    const menu = page.locator(".menu.ranks");
    await menu.locator("summary").click();
    await menu.getByRole("button", { name: "And 2 ranks on either side" }).click();
    for (const rank of [610, 614]) await lane(rank).waitFor();
    const field = menu.getByLabel(/^Ranks, as/);
    await menu.locator("summary").click();
    await field.fill("3-5, 900");
    await field.press("Enter");
    await lane(900).waitFor();
    assert.equal(await page.locator(".rank-name").count(), 4);
    await menu.locator("summary").click();
    await field.fill("everything");
    await field.press("Enter");
    await menu.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await lane(900).waitFor();
}
