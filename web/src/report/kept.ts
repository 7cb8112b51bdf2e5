// The answers that stand in a report, in the form that the page gets from its server.
import { Bundle, parseBundle } from "../api/columns";

let answers: Record<string, unknown> | null = null;

function all(): Record<string, unknown> {
    answers ??= JSON.parse(document.getElementById("answers")?.textContent || "{}");
    return answers!;
}

export function keptJson<T>(address: string): T | null {
    return (all()[address] as T | undefined) ?? null;
}

export function keptBundle(address: string): Bundle | null {
    const text = keptJson<string>(address);
    if (text === null) return null;
    return parseBundle(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}

/* Of the function of interest whose drawing has this address: as isFew of the page. */
export function isFewAt(address: string): boolean {
    const [foi] = /^\/fois\/\d+/.exec(address) ?? [""];
    return keptJson<{ is_few: boolean }>(foi)?.is_few ?? false;
}
