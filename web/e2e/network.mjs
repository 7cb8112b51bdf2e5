// network.mjs -- the network between the page and its server, as far away as one likes. The browser holds answers
// back; what the server sends by itself (events) comes as it is.

/* Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function numbersOf(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let x = Math.imul(state ^ (state >>> 15), state | 1);
        x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
        return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
    };
}

export const networks = {
    near: null,
    far: { says: "300 ms away", delays: () => () => 300 },
    shuffled: {
        says: "answers in random order",
        delays: (seed) => {
            const next = numbersOf(seed);
            return () => 600 * next();
        },
    },
};

/* Of all pages of a context: each answer comes so many ms later as `delay()` says then. */
export async function holdBack(context, delay) {
    await context.route(
        (url) => url.pathname.includes("/api/v1/") && !url.pathname.endsWith("/events"),
        async (route) => {
            try {
                const response = await route.fetch();
                await new Promise((done) => setTimeout(done, delay()));
                await route.fulfill({ response });
            } catch {
                await route
                    .abort()
                    .catch(
                        () => undefined,
                    ); /* the page has given it up, or the server is away */
            }
        },
    );
}
