// The tasks of tasks.md on a program that launches kernels, and counts the memory that it uses.
import { serveGpuTrace } from "./gpu_trace.mjs";
import { assert, chosen, doTasks, inSight } from "./tasks.mjs";

export const name = "tasks: a kernel is found from its launch, a counter is seen over time";
export const options = { serve: serveGpuTrace };

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await doTasks(page, server, "gpu", [
        {
            number: 31,
            hash: "views=timeline&call=0.3" /* the third launch of the first step */,
            mouse: (hand) => hand.click(page.getByRole("button", { name: /^kernel_2 on/ })),
            keyboard: async (hand) => {
                await hand.key("]");
                await page.getByRole("region", { name: "Selected launch" }).waitFor();
                await hand.key("]");
            },
            answer: async () =>
                assert.match(
                    (await chosen(page, /launched by/)).replace(/\s+/g, " "),
                    /launched by ?cudaLaunchKernel on rank 0.*delay ?550\.000 us/,
                ),
        },
        {
            number: 32,
            hash: "views=timeline&window=0,12000000",
            mouse: (hand) =>
                hand.choose(page.getByLabel("Counter below the lanes"), { index: 1 }),
            keyboard: (hand) => hand.key("v"),
            answer: async () => {
                const legend = page
                    .getByRole("status", { name: "Counter" })
                    .filter({ hasText: "0 to 600" });
                assert.match(await inSight(legend), /memory/);
            },
        },
    ]);
}
