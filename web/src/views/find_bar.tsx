// Finding: a text, what there is of it, and one hit after another, in sight and outlined. / and Ctrl+F
// come here; Enter goes on, Shift and Enter back.
import { useMemo, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { NextCall, Tree } from "../api/types";
import { formatCount } from "../format/units";
import { select, showView } from "../state/actions";
import { searchCall, Step } from "../state/call_walk";
import { Item, itemsFor } from "../state/find";
import { reveal, showLane, sought } from "../state/reveal";
import { useResource } from "../state/resource";
import {
    details,
    executions,
    foi,
    mark,
    markedCalls,
    notice,
    regions,
    run,
    scoresVersion,
    selected,
} from "../state/store";
import { findInput, isFindOpen } from "../state/overlays";
import { pathOf } from "./structure";

const kindWords: Record<Item["kind"], string> = {
    function: "function",
    longest: "longest call of",
    rank: "rank",
    slowest: "",
    execution: "",
    path: "call path",
};

/* Where the calls of a function that were stepped through are. */
interface Place {
    item: Item;
    hit: NextCall | null; /* null: an item that is one hit */
}

function usePaths(isOpen: boolean): string[][] {
    const [id, tree] = [foi.value?.id, selected.value];
    const isAsked = isOpen && id !== undefined && tree !== null;
    const of = useResource<Tree>(
        isAsked ? `${id}/${tree}#${scoresVersion.value}` : null,
        (abort) => getJson(`/fois/${id}/executions/${tree}/tree`, abort),
    );
    return useMemo(
        () => (of.value ? of.value.nodes.map((_, i) => pathOf(of.value!.nodes, i)) : []),
        [of.value],
    );
}

/* Around: behind the last is the first again. */
async function nextCall(
    item: Item & { region: number },
    from: NextCall | null,
    step: Step,
): Promise<NextCall | null> {
    const of = { region: item.region, isByLength: item.kind === "longest" };
    const hit = await searchCall(of, from, step);
    return hit ?? (from ? searchCall(of, null, step) : null);
}

function show(item: Item): void {
    if (item.kind === "execution" || item.kind === "slowest") select(item.tree);
    if (item.kind === "rank") {
        showLane(item.location);
        sought.value = { location: item.location, call: 0 };
    }
    if (item.kind === "path") {
        mark.value = item.path;
        markedCalls.value = null;
        showView("structure");
    }
}

function ItemWords({ of }: { of: Item }) {
    const calls = of.kind === "function" ? ` ${formatCount(of.calls)} calls` : "";
    return (
        <>
            <span class="dim">{kindWords[of.kind]}</span>{" "}
            {of.kind === "rank" ? of.name.replace("rank ", "") : of.name}
            <small>{calls}</small>
        </>
    );
}

function isSame(a: Item, b: Item): boolean {
    return a.kind === b.kind && a.name === b.name;
}

export function FindBar() {
    const [text, setText] = useState("");
    const [active, setActive] = useState(0);
    const [place, setPlace] = useState<Place | null>(null);
    const isOpen = isFindOpen.value;
    const paths = usePaths(isOpen && text.length > 1);
    const known = {
        regions: [...regions.value.values()],
        locations: run.value?.locations ?? [],
        executions: executions.value,
        details: details.value,
        paths,
    };
    const items = useMemo(
        () => itemsFor(text, known),
        [text, regions.value, executions.value?.n, details.value, paths],
    );
    const go = async (item: Item | undefined, step: Step) => {
        if (!item) return;
        if (item.kind !== "function" && item.kind !== "longest") {
            show(item);
            return setPlace({ item, hit: null });
        }
        const from = place && isSame(place.item, item) ? place.hit : null;
        try {
            const hit = await nextCall(item, from, step);
            setPlace({ item, hit });
            if (hit) reveal(hit, hit.enter_ns, hit.leave_ns);
        } catch (error) {
            notice.value = {
                text: `Cannot find it: ${(error as Error).message}.`,
                isError: true,
            };
        }
    };
    // Of what stands in the field now: keys come faster than the page is drawn.
    const goOn = (step: Step) =>
        go(itemsFor(findInput.current?.value ?? text, known)[active], step);
    const isNothing = text.trim() !== "" && !items.length;
    const isAtPlace = place && items[active] && isSame(place.item, items[active]);
    const said = !isAtPlace
        ? ""
        : place.hit
          ? `${formatCount(place.hit.place)} of ${formatCount(place.hit.total)}`
          : "1 of 1";
    const onKeyDown = (event: KeyboardEvent) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (event.key === "Enter") goOn(event.shiftKey ? "previous" : "next");
        if (!by) return;
        event.preventDefault();
        setActive(Math.min(Math.max(active + by, 0), Math.max(0, items.length - 1)));
    };
    return (
        <search
            class="find"
            onFocusOut={(e) => {
                if (!e.currentTarget.contains(e.relatedTarget as Node | null))
                    isFindOpen.value = false;
            }}
            onFocusIn={() => (isFindOpen.value = true)}
        >
            <input
                ref={findInput}
                type="search"
                placeholder="Find (/)"
                aria-label="Find functions, ranks, executions, call paths"
                role="combobox"
                aria-expanded={isOpen && items.length > 0}
                aria-controls="found"
                aria-activedescendant={isOpen && items.length ? `found-${active}` : undefined}
                value={text}
                onInput={(e) => {
                    setText(e.currentTarget.value);
                    setActive(0);
                    setPlace(null);
                }}
                onKeyDown={onKeyDown}
            />
            <span class="found-place" role="status">
                {said}
            </span>
            {place && (
                <>
                    <button
                        aria-label="Hit before"
                        title="Shift and Enter"
                        onClick={() => goOn("previous")}
                    >
                        ↑
                    </button>
                    <button aria-label="Next hit" title="Enter" onClick={() => goOn("next")}>
                        ↓
                    </button>
                </>
            )}
            <p class="found-nothing" role="status" hidden={!isOpen || !isNothing}>
                Nothing is called “{text.trim()}”.
            </p>
            {isOpen && items.length > 0 && (
                <ul id="found" role="listbox" aria-label="Found">
                    {items.map((item, i) => (
                        <li
                            key={`${item.kind} ${item.name}`}
                            id={`found-${i}`}
                            role="option"
                            aria-selected={i === active}
                            onMouseDown={(e) => e.preventDefault()}
                            onClick={() => {
                                setActive(i);
                                go(item, "next");
                            }}
                        >
                            <ItemWords of={item} />
                        </li>
                    ))}
                </ul>
            )}
        </search>
    );
}
