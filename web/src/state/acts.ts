// What a person does, in the order in which it was done, however late answers come. Each act sees the page as the
// acts before it left it:
//
//   goOn(act)     goes on from where one is (the next call, an end of this message): while an act is under
//                 way it waits, and then counts from the place that led to
//   instead(act)  is a choice anew (another execution, a click): what was under way is given up
//
// An act that has to ask gives back what it then changes; that is done only if the act was not given up
// meanwhile. What is chosen in any other way, by a click or the browser's Back, gives up what is under way, too: see
// keepOrder().
import { batch, effect, ReadonlySignal, signal, untracked } from "@preact/signals";

type Change = (() => void) | null | undefined | void;
export type Act = (abort: AbortSignal) => Change | Promise<Change>;

/* Acts that are under way or wait; the page shows that there are some. */
export const underWay = signal(0);

let line = new AbortController(); /* of the acts that stand in line now */
let last: Promise<void> = Promise.resolve();
let isChanging = false;
let complain: (error: Error) => void = () => undefined;

function change(what: () => void): void {
    isChanging = true;
    try {
        batch(what);
    } finally {
        isChanging = false;
    }
}

async function finish(asked: Change | Promise<Change>, abort: AbortSignal): Promise<void> {
    try {
        const then = await asked;
        if (then && !abort.aborted) change(then);
    } catch (error) {
        if (!abort.aborted) complain(error as Error);
    }
}

/* At once where nothing is under way and nothing is asked. */
function begin(act: Act, abort: AbortSignal): Promise<void> | null {
    let asked: Change | Promise<Change> = null;
    try {
        change(() => (asked = act(abort)));
    } catch (error) {
        complain(error as Error);
    }
    if ((asked as unknown) instanceof Promise) return finish(asked, abort);
    if (asked) change(asked);
    return null;
}

function stand(next: Promise<void>): void {
    const of = line;
    underWay.value++;
    last = next.then(() => {
        if (of === line) underWay.value--;
    });
}

export function goOn(act: Act): void {
    const abort = line.signal;
    if (underWay.peek()) {
        stand(last.then(() => (abort.aborted ? undefined : (begin(act, abort) ?? undefined))));
        return;
    }
    const asked = begin(act, abort);
    if (asked) stand(asked);
}

/* What is under way changes nothing any more. */
export function giveUp(): void {
    if (!underWay.peek()) return;
    line.abort();
    line = new AbortController();
    last = Promise.resolve();
    underWay.value = 0;
}

export function instead(act: Act): void {
    giveUp();
    goOn(act);
}

/* A choice that no act made gives up what is under way. onError: an act could not be finished. */
export function keepOrder(
    choices: readonly ReadonlySignal<unknown>[],
    onError: (error: Error) => void,
): () => void {
    complain = onError;
    let isFirst = true;
    return effect(() => {
        for (const choice of choices) void choice.value;
        if (!isFirst && !isChanging) untracked(giveUp);
        isFirst = false;
    });
}
