// Requests to the server of this page. An error says in words what went wrong; whether the server
// can be reached at all is kept in `isOnline`, which the events of the server keep up to date too.
import { signal } from "@preact/signals";
import { Bundle, parseBundle } from "./columns";

export const isOnline = signal(true);
let nSent = 0;
let nLost = 0; /* requests when the server was last away: their answers say nothing of now */

export function goOffline(): void {
    nLost = nSent;
    isOnline.value = false;
}

const base = "api/v1";

/* status 0: the server could not be reached. */
export class ApiError extends Error {
    constructor(
        message: string,
        readonly status: number,
    ) {
        super(message);
    }
}

/* A server that listens beyond this machine puts a token in the URL of the page. */
export function apiUrl(path: string): string {
    const token = new URLSearchParams(location.search).get("token");
    const url = base + path;
    if (!token) return url;
    return `${url}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}`;
}

async function problemOf(response: Response): Promise<ApiError> {
    const fallback = `the server answered ${response.status}`;
    try {
        const problem = await response.json();
        return new ApiError(problem.detail || problem.title || fallback, response.status);
    } catch {
        return new ApiError(fallback, response.status);
    }
}

function request(path: string, init?: RequestInit): Promise<Response> {
    return requestUrl(apiUrl(path), init);
}

const maxTries = 5; /* of what a busy server asks to be asked again */

/* When the server wants to be asked again, in ms; null: it does not. */
function later(response: Response): number | null {
    const seconds = Number(response.headers.get("Retry-After") ?? NaN);
    return response.status === 503 && seconds <= 10 ? 1000 * seconds : null;
}

function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
    return new Promise((done, fail) => {
        const end = setTimeout(done, ms);
        signal?.addEventListener("abort", () => {
            clearTimeout(end);
            fail(signal.reason);
        });
    });
}

/* What changes something is not sent twice. */
async function fetchPatiently(url: string, init?: RequestInit): Promise<Response> {
    for (let tries = 1; ; tries++) {
        const response = await fetch(url, init);
        const ms = later(response);
        if (ms === null || tries === maxTries || init?.method) return response;
        await pause(ms, init?.signal);
    }
}

async function requestUrl(url: string, init?: RequestInit): Promise<Response> {
    const number = ++nSent;
    let response;
    try {
        response = await fetchPatiently(url, init);
    } catch (error) {
        if ((error as Error).name === "AbortError") throw error;
        goOffline();
        throw new ApiError("the server does not answer", 0);
    }
    if (number > nLost) isOnline.value = true;
    if (!response.ok) throw await problemOf(response);
    return response;
}

export function getJson<T>(path: string, abort?: AbortSignal): Promise<T> {
    return getJsonOf<T>("", path, abort);
}

export function getBundle(path: string, abort?: AbortSignal): Promise<Bundle> {
    return getBundleOf("", path, abort);
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    return (
        await request(path, { method: "POST", headers, body: JSON.stringify(body) })
    ).json();
}

/* Of a run that is compared: its page is at `page`, below this one's. */
export async function getBundleOf(
    page: string,
    path: string,
    abort?: AbortSignal,
): Promise<Bundle> {
    const url = page + apiUrl(path);
    return parseBundle(await (await requestUrl(url, { signal: abort })).arrayBuffer());
}

export async function getJsonOf<T>(
    page: string,
    path: string,
    abort?: AbortSignal,
): Promise<T> {
    return (await requestUrl(page + apiUrl(path), { signal: abort })).json();
}

/* Null where the server says 404: what was asked for does not exist (yet). */
export async function orNull<T>(asked: Promise<T>): Promise<T | null> {
    try {
        return await asked;
    } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
    }
}
