// Finding: a text, what there is of it, and one hit after another, in sight and outlined. / and Ctrl+F
// come here; Enter goes on, Shift and Enter back. The list of what was found closes when one of it is shown.
import { computed, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { NextCall, Tree } from "../api/types";
import { executionId } from "../format/ids";
import { kindOf } from "../format/kind_colour";
import { formatCount } from "../format/units";
import { giveUp, goOn } from "../state/acts";
import { select } from "../state/actions";
import { showView } from "../state/shown_views";
import { searchCall, Step } from "../state/call_walk";
import { CallsItem, Item, itemsFor, Known } from "../state/find";
import { listQuery } from "../state/list";
import { detailsQuery, executionsQuery } from "../state/load";
import { reveal, showLane, sought } from "../state/reveal";
import { queryOf, when } from "../state/query";
import {
    details,
    executions,
    foi,
    mark,
    markedCalls,
    regions,
    run,
    scoresVersion,
    selected,
} from "../state/store";
import { findInput, isFindOpen } from "../state/overlays";
import { shortName } from "../state/names";
import { pathOf } from "./structure";
import { Name, PathNames } from "./name";

const kindWords: Record<Item["kind"], string> = {
    function: "function",
    longest: "longest call of",
    shortest: "shortest call of",
    rank: "rank",
    slowest: "",
    execution: "",
    path: "call path",
};

/* Where one is among the hits of an item; null: an item that is one hit. */
interface Place {
    item: Item;
    hit: NextCall | null;
}
const place = signal<Place | null>(null);

/* Around: behind the last is the first again. The shortest are the longest from behind; their place counts from there. */
async function nextCall(
    item: CallsItem,
    from: NextCall | null,
    step: Step,
    abort: AbortSignal,
): Promise<NextCall | null> {
    const { region, locations } = item;
    const of = { region, locations, isByLength: item.kind !== "function" };
    const isBack = item.kind === "shortest";
    const way = isBack === (step === "next") ? "previous" : "next";
    const search = async (behind: NextCall | null) => {
        const hit = await searchCall(of, behind, way, abort);
        return hit && isBack ? { ...hit, place: hit.total - hit.place + 1 } : hit;
    };
    let hit = await search(from);
    for (let n = 1; !from && hit && n < (item.nth ?? 1); n++) hit = await search(hit);
    return hit ?? (from ? search(null) : null);
}

function isOfCalls(item: Item): item is CallsItem {
    return item.kind === "function" || item.kind === "longest" || item.kind === "shortest";
}

/* To the item that a text means once all that is searched is here; from the hit that one is at to the next. */
function goTo(itemOf: () => Item | undefined, step: Step): void {
    goOn(async (abort) => {
        await when(() => isAllKnown.value || failure.value !== null);
        const item = itemOf();
        if (!item) return null;
        if (!isOfCalls(item))
            return () => {
                show(item);
                place.value = { item, hit: null };
                isFindOpen.value = false;
            };
        const at = place.value;
        const hit = await nextCall(
            item,
            at && isSame(at.item, item) ? at.hit : null,
            step,
            abort,
        );
        return () => {
            if (hit) reveal(hit, hit.enter_ns, hit.leave_ns);
            place.value = { item, hit };
            isFindOpen.value = false;
        };
    });
}

/* The call paths of the selected execution, while they are searched. */
const isSearching = signal(false);
const pathsQuery = queryOf<Tree>(() => {
    const [id, tree] = [foi.value?.id, selected.value];
    if (!isSearching.value || id === undefined || tree === null) return null;
    return {
        about: `${id}/${tree}`,
        version: scoresVersion.value,
        ask: (abort) => getJson(`/fois/${id}/executions/${tree}/tree`, abort),
    };
});
const paths = computed<string[][]>(() => {
    const nodes = pathsQuery.answer.value.value?.nodes ?? [];
    return nodes.map((_, i) => pathOf(nodes, i));
});

/* Until then nothing is said to be missing. The first of the list is selected when that comes, and has paths. */
const isAllKnown = computed(
    () =>
        run.value !== null &&
        details.value !== null &&
        !pathsQuery.answer.value.isLoading &&
        (selected.value !== null || !listQuery.answer.value.isLoading),
);

/* Why executions cannot be searched; null: they can be, or will. */
const failure = computed(
    () => executionsQuery.answer.value.error ?? detailsQuery.answer.value.error,
);

function known(): Known {
    return {
        regions: [...regions.value.values()],
        locations: run.value?.locations ?? [],
        executions: executions.value,
        details: details.value,
        paths: paths.value,
    };
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
    const nth = isOfCalls(of) && of.nth ? `number ${of.nth} of the ` : "";
    return (
        <>
            <span class="dim">
                {nth}
                {nth ? kindWords[of.kind].replace("call ", "calls ") : kindWords[of.kind]}
            </span>{" "}
            {of.kind === "path" ? (
                <PathNames of={of.path.length > 1 ? of.path.slice(1) : of.path} />
            ) : (
                <Name of={of.kind === "rank" ? of.name.replace("rank ", "") : of.name} />
            )}
            <small>{calls}</small>
        </>
    );
}

const keyOf = (item: Item): string =>
    `${isOfCalls(item) ? (item.nth ?? "") : ""} ${item.kind} ${item.name}`;

function isSame(a: Item, b: Item): boolean {
    return keyOf(a) === keyOf(b);
}

/* Called most often: of MPI, if there is any. */
const called = computed(() => {
    const byCalls = [...regions.value.values()].sort((a, b) => b.calls - a.calls);
    return byCalls.find((of) => kindOf(of.kind, of.short_name) === "mpi") ?? byCalls[0];
});

/* Of what this run has. */
const examples = computed(() => {
    const [more, tree, own] = [details.value, selected.value, foi.value?.name];
    if (!more || tree === null || !own) return "solve, longest MPI_Waitall, rank 7";
    const rank = more.rank[tree];
    return [
        shortName(own),
        ...(called.value ? [`longest ${called.value.short_name}`] : []),
        `5th longest ${shortName(own)} on rank ${rank}`,
        `rank ${rank}`,
        executionId(rank, more.thread[tree], more.index[tree]),
    ].join(", ");
});

export function FindBar() {
    const [text, setText] = useState("");
    const [active, setActive] = useState(0);
    const [hasFocus, setFocus] = useState(false);
    const isOpen = isFindOpen.value;
    useEffect(() => {
        isSearching.value = hasFocus && text.length > 1;
    }, [hasFocus, text.length > 1]);
    const items = useMemo(
        () => itemsFor(text, known()),
        [text, regions.value, executions.value?.n, details.value, paths.value],
    );
    // Of what stands in the field now: keys come faster than the page is drawn.
    const inField = () => itemsFor(findInput.current?.value ?? text, known())[active];
    const goOnBy = (step: Step) => goTo(inField, step);
    const isMissing = text.trim() !== "" && !items.length;
    const at = place.value;
    const isAtPlace = at && items[active] && isSame(at.item, items[active]);
    const said = !isAtPlace
        ? ""
        : at.hit
          ? `${formatCount(at.hit.place)} of ${formatCount(at.hit.total)}`
          : isOfCalls(at.item)
            ? "none"
            : "1 of 1";
    const onKeyDown = (event: KeyboardEvent) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (event.key === "Enter") goOnBy(event.shiftKey ? "previous" : "next");
        if (!by) return;
        event.preventDefault();
        isFindOpen.value = true;
        setActive(Math.min(Math.max(active + by, 0), Math.max(0, items.length - 1)));
    };
    return (
        <search
            class="find"
            onFocusOut={(e) => {
                if (e.currentTarget.contains(e.relatedTarget as Node | null)) return;
                isFindOpen.value = false;
                setFocus(false);
            }}
            onFocusIn={(e) => {
                setFocus(true);
                if (e.target === findInput.current) isFindOpen.value = true;
            }}
        >
            <input
                ref={findInput}
                type="search"
                placeholder="Find (/)"
                aria-label="Find functions, ranks, executions, call paths"
                title={`such as: ${examples.value}`}
                role="combobox"
                aria-expanded={isOpen && items.length > 0}
                aria-controls="found"
                aria-activedescendant={isOpen && items.length ? `found-${active}` : undefined}
                value={text}
                onClick={() => (isFindOpen.value = true)}
                onInput={(e) => {
                    isFindOpen.value = true;
                    setText(e.currentTarget.value);
                    isSearching.value =
                        e.currentTarget.value.length > 1; /* before it is drawn */
                    setActive(0);
                    giveUp();
                    place.value = null;
                }}
                onKeyDown={onKeyDown}
            />
            <span class="found-place" role="status">
                {said}
            </span>
            {at && (
                <>
                    <button
                        aria-label="Hit before"
                        title="Shift and Enter"
                        onClick={() => goOnBy("previous")}
                    >
                        ↑
                    </button>
                    <button aria-label="Next hit" title="Enter" onClick={() => goOnBy("next")}>
                        ↓
                    </button>
                </>
            )}
            <p class="found-nothing" role="status" hidden={!isOpen || !isMissing}>
                {isAllKnown.value
                    ? `Nothing is called “${text.trim()}”.`
                    : failure.value !== null
                      ? `No function is called “${text.trim()}”; executions cannot be searched: ${failure.value}`
                      : "Loading what can be found ..."}
            </p>
            {isOpen && items.length > 0 && (
                <ul id="found" role="listbox" aria-label="Found">
                    {items.map((item, i) => (
                        <li
                            key={keyOf(item)}
                            id={`found-${i}`}
                            role="option"
                            aria-selected={i === active}
                            onMouseDown={(e) => e.preventDefault()}
                            onClick={() => {
                                setActive(i);
                                giveUp();
                                goTo(() => item, "next");
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
