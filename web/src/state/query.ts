// One way to ask the server, under every view. A query has a question, and says what is shown until it
// is answered:
//
//   isLoading  the question of now has no answer yet: it looks like that, and is no "nothing"
//   value      the answer; while one about the same is asked for anew, the old one
//   error      the question of now was not answered, because of this
//
// The newest question wins: what was asked before is given up, and its answer dropped if it still comes. A question is
// about something, in some version: the answer about the same in an older version stays until the new one is there
// (scores after a retrain, another window of the timeline); that about something else never does, as names
// and numbers on the page would be of two things. "Not known" and "nothing" are answers of the server: a view says
// them of a `value`, never for want of one.
import { computed, effect, ReadonlySignal, signal, untracked } from "@preact/signals";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ApiError } from "../api/http";

export interface Question<T> {
    about: string;
    version?: string | number;
    ask: (abort: AbortSignal) => Promise<T>;
    isPatient?: boolean; /* versions may come faster than answers: that of an older one is let come, and shown */
}

type Asked = Pick<Question<unknown>, "about" | "version">;

function isSame(a: Asked | null, b: Asked | null): boolean {
    return a?.about === b?.about && a?.version === b?.version;
}

export interface Answer<T> {
    value: T | null;
    error: string | null;
    isLoading: boolean;
    retry: () => void;
}

/* Counts how often the server came back; what failed meanwhile is asked for again. */
export const timesBack = signal(0);

interface Came<T> {
    to: Asked;
    value: T | null;
    error: string | null;
    isAskedAgain?: boolean;
}

export class Query<T> {
    private readonly now = signal<Question<T> | null>(null);
    private readonly came = signal<Came<T> | null>(null);
    private abort: AbortController | null = null; /* of what is under way */
    private sent: Question<T> | null = null;
    private isUnreached = false;

    readonly answer: ReadonlySignal<Answer<T>> = computed(() => this.answerTo(this.now.value));

    /* What is shown while this is the question; null: nothing is asked. */
    answerTo(asked: Asked | null): Answer<T> {
        const came = this.came.value;
        const isAnswered =
            asked !== null && isSame(came?.to ?? null, asked) && !came?.isAskedAgain;
        return {
            value: asked !== null && came?.to.about === asked.about ? came.value : null,
            error: isAnswered ? came!.error : null,
            isLoading: asked !== null && !isAnswered,
            retry: this.retry,
        };
    }

    /* The same question is not asked twice; null: none, and what was asked is given up. */
    ask(question: Question<T> | null): void {
        if (isSame(question, this.now.peek())) return;
        this.now.value = question;
        const waits = question?.isPatient && this.abort && this.sent?.about === question.about;
        if (!waits) this.send();
    }

    readonly retry = (): void => {
        const came = this.came.peek();
        if (came) this.came.value = { ...came, isAskedAgain: true };
        this.send();
    };

    /* The answer to the question of now, once it is there; null where nothing is asked, or it failed. */
    async settled(): Promise<T | null> {
        await when(() => !this.answer.value.isLoading);
        const { value, error } = this.answer.peek();
        return error === null ? value : null;
    }

    /* What could not be asked, as the server was away. */
    askAgain(): void {
        if (this.isUnreached) this.retry();
    }

    private send(): void {
        this.abort?.abort();
        this.abort = null;
        this.isUnreached = false;
        const to = (this.sent = this.now.peek());
        if (!to) return;
        const abort = (this.abort = new AbortController());
        const come = (value: T | null, error: string | null) => {
            this.abort = null;
            this.came.value = { to, value, error };
            if (!isSame(to, this.now.peek())) this.send();
        };
        to.ask(abort.signal).then(
            (value) => abort.signal.aborted || come(value, null),
            (error: Error) => {
                if (abort.signal.aborted) return;
                const old = this.came.peek();
                this.isUnreached = error instanceof ApiError && error.status === 0;
                come(old?.to.about === to.about ? old.value : null, error.message);
            },
        );
    }
}

/* Until it is so. */
export function when(isSo: () => boolean): Promise<void> {
    return new Promise((done) => {
        let end: (() => void) | null = null;
        let isDone = false;
        end = effect(() => {
            if (isDone || !isSo()) return;
            isDone = true;
            end?.();
            done();
        });
        if (isDone) end();
    });
}

/* Whether there is a server to ask: a report has none. */
export const hasServer = signal(false);

/* A query that all of the page shares: its question follows what it is made of. It lives as long as the page. */
export function queryOf<T>(question: () => Question<T> | null): Query<T> {
    const query = new Query<T>();
    effect(() => {
        const next = hasServer.value ? question() : null;
        untracked(() => query.ask(next));
    });
    effect(() => {
        if (timesBack.value) untracked(() => query.askAgain());
    });
    return query;
}

/* A query of one view: it ends with it. about null: nothing is asked for. */
export function useQuery<T>(
    about: string | null,
    ask: (abort: AbortSignal) => Promise<T>,
    version?: string | number,
    isPatient = false,
): Answer<T> {
    const [query] = useState(() => new Query<T>());
    const question = about === null ? null : { about, version, ask, isPatient };
    useLayoutEffect(() => query.ask(question), [about, version]);
    useEffect(() => () => query.ask(null), []);
    useEffect(() => {
        if (timesBack.value) query.askAgain();
    }, [timesBack.value]);
    return query.answerTo(question); /* it is asked only once this is drawn */
}
