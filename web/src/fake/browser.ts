// What tests have in place of a browser: an address with its history, and a server that answers and tells of events when it
// is told to. To be imported first: the state of the page looks for these when it is made.

interface Answering {
    path: string; /* with its parameters, from api/v1 on */
    method: string;
    answer: (what: unknown, status?: number) => void; /* bytes as they are; all else as JSON */
}

type Hears = (event: { data: string }) => void;

const global = globalThis as any;
const heard = new Map<string, (() => void)[]>(); /* by the page, of the browser */
const events = new Map<string, Hears[]>(); /* by the page, of the server */

/* Addresses in their order, and which is shown. */
export const steps: string[] = [""];
let at = 0;

function show(k: number): void {
    at = k;
    global.location.hash = steps[k];
}

const hashOf = (url: string) => (url.startsWith("#") ? url : "");

export const history = {
    pushState: (_: unknown, __: string, url: string) => {
        steps.splice(at + 1, steps.length, hashOf(url));
        show(at + 1);
    },
    replaceState: (_: unknown, __: string, url: string) => {
        steps[at] = hashOf(url);
        show(at);
    },
    go: (by: number) => {
        if (steps[at + by] === undefined) return;
        show(at + by);
        heard.get("popstate")?.forEach((hear) => hear());
    },
};

/* What the page does when it has rested. */
const later = new Map<number, () => void>();
let nLater = 0;

/* What has been asked and not answered. */
export const asked: Answering[] = [];

function fetchLater(path: string, { method = "GET", signal }: RequestInit = {}) {
    return new Promise<Response>((come, fail) => {
        const done = () => asked.splice(asked.indexOf(it), 1);
        const it: Answering = {
            path: path.replace("api/v1", ""),
            method,
            answer: (what, status = 200) => {
                done();
                const body = what instanceof ArrayBuffer ? what : JSON.stringify(what);
                come(new Response(body, { status }));
            },
        };
        asked.push(it);
        signal?.addEventListener("abort", () => {
            if (!asked.includes(it)) return;
            done();
            fail(Object.assign(new Error("aborted"), { name: "AbortError" }));
        });
    });
}

/* That of a path, which must have been asked for. */
export function askedFor(path: string): Answering {
    const it = asked.find((one) => one.path.startsWith(path));
    if (!it) throw new Error(`${path} is not among ${asked.map((one) => one.path).join()}`);
    return it;
}

/* An event of the server. */
export function tell(name: string, data: unknown): void {
    events.get(name)?.forEach((hear) => hear({ data: JSON.stringify(data) }));
}

/* When all has been done that waits for nothing but what was said so far. */
export const settle = () => new Promise<void>((done) => setImmediate(done));

/* Nobody does anything for a while. */
export async function rest(): Promise<void> {
    await settle();
    for (const [id, act] of [...later]) {
        later.delete(id);
        act();
    }
    await settle();
}

/* Before a test that needs it: other tests may have put theirs in its place. */
export function useBrowser(): void {
    Object.assign(global, {
        window: {
            setTimeout: (act: () => void) => (later.set(++nLater, act), nLater),
            clearTimeout: (id: number) => later.delete(id),
        },
        location: { search: "", pathname: "/", hash: steps[at] },
        history,
        document: { title: "" },
        fetch: fetchLater,
        matchMedia: () => ({ matches: false, addEventListener: () => undefined }),
        addEventListener: (name: string, hear: () => void) =>
            heard.set(name, [...(heard.get(name) ?? []), hear]),
        EventSource: class {
            addEventListener = (name: string, hear: Hears) =>
                events.set(name, [...(events.get(name) ?? []), hear]);
        },
    });
}
useBrowser();
