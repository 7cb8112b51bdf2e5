// From the calls that are marked to their call paths, which is what the structure draws.
import { useEffect } from "preact/hooks";
import { getJson } from "../api/http";
import { CallAt, Shown } from "../api/types";
import { samePath } from "../state/marks";
import { regionName } from "../state/names";
import { useQuery } from "../state/query";
import { spread } from "./spread";
import { markedCallPaths, markedCalls } from "../state/store";

const mostAsked = 64; /* calls of a subtree have few paths: this many find them */

async function loadPaths(
    it: Shown,
    calls: Uint32Array,
    abort: AbortSignal,
): Promise<string[][]> {
    const rows = [0, ...spread(calls, mostAsked)].map((v) => it.call + v);
    const [root, ...found] = await Promise.all(
        rows.map((row) => getJson<CallAt>(`/calls/${it.location}/${row}`, abort)),
    );
    const paths: string[][] = [];
    for (const call of found) {
        const path = call.path.slice(root.depth).map(regionName);
        if (!paths.some((known) => samePath(known, path))) paths.push(path);
    }
    return paths;
}

export function useMarkedCalls(it: Shown | null): void {
    const calls = markedCalls.value;
    const key = it && calls ? `${it.location}/${it.call}/${calls.join()}` : null;
    const paths = useQuery(key, (abort) => loadPaths(it!, calls!, abort));
    useEffect(() => {
        markedCallPaths.value = paths.value;
    }, [paths.value]);
}
