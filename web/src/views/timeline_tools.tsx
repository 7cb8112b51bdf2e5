// Above the timeline: which ranks, search for a region, zoom.
import { useRef, useState } from "preact/hooks";
import { Span } from "../canvas/window";
import { getJson, orNull } from "../api/http";
import { NextCall, SearchHit } from "../api/types";
import { locationName } from "../format/ids";
import { formatCount } from "../format/units";
import { regionName } from "../state/names";
import { notice, run, shownRanks } from "../state/store";

const margin = 1.5; /* times its length, on both sides of a call that was searched */

export function RankChoice(props: { shown: number[]; partners: number[] }) {
    const menu = useRef<HTMLDetailsElement>(null);
    const locations = run.value?.locations ?? [];
    const toggle = (id: number) => {
        const next = props.shown.includes(id)
            ? props.shown.filter((l) => l !== id)
            : [...props.shown, id];
        shownRanks.value = next.length ? next : null;
    };
    return (
        <details class="menu ranks" ref={menu}>
            <summary>
                {shownRanks.value ? `${props.shown.length} ranks` : "partner ranks"}
            </summary>
            <div>
                <button onClick={() => (shownRanks.value = null)}>
                    Only the ranks it exchanged messages with
                </button>
                <button
                    onClick={() => (shownRanks.value = locations.slice(0, 64).map((l) => l.id))}
                >
                    All{locations.length > 64 ? " (the first 64)" : ""}
                </button>
                <div class="rank-list">
                    {locations.map((l) => (
                        <label key={l.id}>
                            <input
                                type="checkbox"
                                checked={props.shown.includes(l.id)}
                                onChange={() => toggle(l.id)}
                            />
                            {locationName(l.rank, l.thread)}
                            {props.partners.includes(l.id) ? " ⇄" : ""}
                        </label>
                    ))}
                </div>
            </div>
        </details>
    );
}

export function Search(props: { window: Span; go: (window: Span, location: number) => void }) {
    const [hits, setHits] = useState<SearchHit[]>([]);
    const [text, setText] = useState("");
    const newest = useRef("");
    const look = async (value: string) => {
        setText(value);
        newest.current = value;
        if (value.length < 2) return setHits([]);
        try {
            const found = await getJson<{ items: SearchHit[] }>(
                `/search?q=${encodeURIComponent(value)}`,
            );
            if (newest.current === value) setHits(found.items.slice(0, 12));
        } catch (error) {
            notice.value = {
                text: `Cannot search: ${(error as Error).message}.`,
                isError: true,
            };
        }
    };
    const goNext = async (region: number, name: string) => {
        const after = Math.ceil((props.window[0] + props.window[1]) / 2);
        const call = await orNull(
            getJson<NextCall>(`/search/next?region=${region}&after=${after}`),
        ).catch(() => null);
        if (!call) {
            notice.value = {
                text: `No call of ${name} after the middle of the window.`,
                isError: false,
            };
            return;
        }
        const around = Math.max(50, (call.leave_ns - call.enter_ns) * margin);
        props.go([call.enter_ns - around, call.leave_ns + around], call.location);
    };
    return (
        <span class="search">
            <input
                type="search"
                placeholder="find a function"
                aria-label="Find a function in the timeline"
                value={text}
                onInput={(e) => look(e.currentTarget.value)}
                onKeyDown={(e) => {
                    if (e.key === "Enter" && hits.length) goNext(hits[0].region, hits[0].name);
                    if (e.key === "Escape") look("");
                }}
            />
            {hits.length > 0 && (
                <ul>
                    {hits.map((hit) => (
                        <li key={hit.region}>
                            <button
                                onClick={() => goNext(hit.region, regionName(hit.region))}
                                title={`Next call of ${hit.name}`}
                            >
                                {regionName(hit.region)}{" "}
                                <small>{formatCount(hit.calls)} calls, next →</small>
                            </button>
                        </li>
                    ))}
                </ul>
            )}
        </span>
    );
}
