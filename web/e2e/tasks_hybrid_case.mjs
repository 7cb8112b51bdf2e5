// The tasks of tasks.md on ranks of three threads each, with a barrier: rank 2 is late, so rank 3, which waits for its
// message, comes last to it.
import { assert, doTasks, inSight, skipTo } from "./tasks.mjs";
import { until } from "./steps.mjs";

export const name =
    "tasks: threads are folded, ranks are kept in sight, a barrier says who was late";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:40*step(compute@1ms team@10us[work@300us] >1 <1 |);ranks=6;threads=3;jitter=0.05;slow=compute/37/9/2";
        await snag("analyze", program, "--foi", "step", "-o", "hybrid.snag", "--quiet");
        return ["hybrid.snag"];
    },
};

const left = 100; /* room for the names of ranks */

/* Where the right edge of the late barrier is drawn, between the lanes of ranks 1 and 2. */
async function barrier(page) {
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const lane = (rank) =>
        page.locator(".rank-name", { hasText: new RegExp(`rank ${rank}$`) }).boundingBox();
    const share = await page.evaluate(async () => {
        const get = async (path) => (await fetch(`api/v1${path}`)).json();
        const { items } = await get("/fois/1/candidates?limit=1");
        const [{ enter_ns, duration_ns, call, vertices }] = items;
        const { last_ns } = await get(`/calls/6/${call + vertices - 1}/collective`);
        const margin = 0.08 * duration_ns;
        return (last_ns - enter_ns + margin) / (duration_ns + 2 * margin);
    });
    const [above, below] = [await lane(1), await lane(2)];
    return [canvas.x + left + share * (canvas.width - left), (above.y + below.y) / 2 + 6];
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1400, height: 900 });
    const names = page.locator(".rank-name");
    await doTasks(page, server, "hybrid", [
        {
            number: 26,
            hash: "views=timeline&ranks=0,6",
            mouse: (hand) => hand.click(page.locator(".lane-threads", { hasText: "−" })),
            keyboard: async (hand) => {
                await skipTo(hand, "To the timeline");
                await hand.key("t");
            },
            answer: () =>
                until("two lanes, of ranks 0 and 2", async () => (await names.count()) === 2),
        },
        {
            number: 27,
            hash: "views=timeline&ranks=0,3,6",
            mouse: (hand) =>
                hand.click(page.getByRole("button", { name: "Keep rank 2 in sight" })),
            keyboard: async (hand) => {
                await skipTo(hand, "To the timeline");
                await hand.key("p");
            },
            answer: () =>
                until("rank 2 is on top", async () =>
                    /rank 2$/.test(await names.first().textContent()),
                ),
        },
        {
            number: 28,
            hash: "views=timeline&ranks=3,6&threads=2x&links=collectives",
            mouse: async (hand) => hand.clickAt(...(await barrier(page))),
            keyboard: (hand) => hand.key("]"),
            answer: async () => {
                const said = page.getByRole("region", { name: "Selected collective" });
                await said.getByRole("button", { name: "Last to arrive: rank 3" }).waitFor();
                assert.match(await inSight(said), /MPI_Barrier.*6 members.*waited longest/s);
            },
        },
    ]);
}
