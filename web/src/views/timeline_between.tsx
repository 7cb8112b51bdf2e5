// The distance between two calls that were chosen one after the other: drawn over their lanes, and in words.
import { ComponentChildren } from "preact";
import { CallAt } from "../api/types";
import { Distance, distanceOf } from "../canvas/between";
import { Block, shownTop } from "../canvas/rows";
import { axisHeight } from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { formatExactly, formatTime } from "../format/units";
import { instead } from "../state/acts";
import { regionName } from "../state/names";
import { CallOfLocation, revealing } from "../state/reveal";
import { callQuery, measuredFromQuery } from "../state/selected";
import { chosenCall, measuredFrom, timeWindow } from "../state/store";
import { runKeys } from "../state/keys";
import { left, nameOfLocation } from "./timeline_scene";
import { Size } from "./use_size";
import { Name } from "./name";

interface Placed {
    at: CallOfLocation;
    call: CallAt;
}

/* Both calls, once both are here. */
function bothNow(): [Placed, Placed] | null {
    const [from, to] = [measuredFrom.value, chosenCall.value];
    const [first, second] = [
        measuredFromQuery.answer.value.value,
        callQuery.answer.value.value,
    ];
    if (!from || !to || !first || !second) return null;
    if (from.location === to.location && from.call === to.call) return null;
    return [
        { at: from, call: first },
        { at: to, call: second },
    ];
}

const spanOf = ({ call }: Placed): Span => [call.enter_ns, call.leave_ns];

/* Above lanes: the first call outlined, and from row to row what lies between the two. */
export function BetweenOverlay(props: {
    blocks: Block[];
    window: Span;
    scroll: number;
    size: Size;
}) {
    const { blocks, window, scroll, size } = props;
    const from = measuredFrom.value;
    const first = measuredFromQuery.answer.value.value;
    if (!from || !first) return null;
    const px = (units: number) => `${units * size.scale}px`;
    const xOf = (ns: number) => {
        const x = left + ((ns - window[0]) / (window[1] - window[0])) * (size.width - left);
        return Math.min(Math.max(x, left), size.width);
    };
    const box = (of: Placed) => {
        const block = blocks.find(({ location }) => location === of.at.location);
        if (!block) return null;
        const top = axisHeight + scroll + shownTop(block, scroll) + of.call.depth * block.row;
        return { top, bottom: top + block.row };
    };
    const both = bothNow();
    const anchor = box({ at: from, call: first });
    const boxes = both?.map(box) ?? [];
    const distance = both && distanceOf(spanOf(both[0]), spanOf(both[1]));
    const seen = boxes.flatMap((b) => b ?? []);
    const [x0, x1] = distance ? distance.span.map(xOf) : [0, 0];
    const top = Math.min(...seen.map((b) => b.top));
    const bottom = Math.max(...seen.map((b) => b.bottom));
    return (
        <>
            {anchor && (
                <div
                    class="between-first"
                    style={{
                        left: px(xOf(first.enter_ns)),
                        width: px(Math.max(2, xOf(first.leave_ns) - xOf(first.enter_ns))),
                        top: px(anchor.top),
                        height: px(anchor.bottom - anchor.top),
                    }}
                />
            )}
            {distance && seen.length > 0 && (
                <div
                    class={`between${distance.isGap ? "" : " shared"}`}
                    style={{
                        left: px(x0),
                        width: px(Math.max(1, x1 - x0)),
                        top: px(top),
                        height: px(bottom - top),
                    }}
                >
                    <span>{formatTime(distance.ns)}</span>
                </div>
            )}
        </>
    );
}

/* "12 ns later" */
function later(ns: number): string {
    return ns === 0
        ? "at the same time"
        : `${formatExactly(Math.abs(ns))} ${ns > 0 ? "later" : "earlier"}`;
}

function Words({ of, first, second }: { of: Distance; first: Placed; second: Placed }) {
    const isAlike =
        first.call.region === second.call.region && first.at.location === second.at.location;
    const name = ({ at, call }: Placed) => (
        <button onClick={() => instead(revealing(at))}>
            <Name of={regionName(call.region)} /> on {nameOfLocation(at.location)}
            {isAlike && ` at ${formatTime(call.enter_ns)}`}
        </button>
    );
    const [before, after] = of.isSwapped ? [second, first] : [first, second];
    return (
        <>
            <span>
                <b>
                    {of.isGap ? "Gap" : "Both"} {formatExactly(of.ns)}
                </b>
            </span>
            {of.isGap ? (
                <span>
                    from the end of {name(before)} to the begin of {name(after)}
                </span>
            ) : (
                <span>
                    {name(first)} and {name(second)} are there at once
                </span>
            )}
            <span>
                <span class="dim">the second begins</span> {later(of.begins_ns)}
            </span>
            <span>
                <span class="dim">ends</span> {later(of.ends_ns)}
            </span>
            {of.ns > 0 && (
                <button
                    onClick={() => {
                        const margin = of.ns * 0.3;
                        timeWindow.value = [of.span[0] - margin, of.span[1] + margin];
                    }}
                >
                    Zoom to it
                </button>
            )}
        </>
    );
}

function Said({ children }: { children: ComponentChildren }) {
    return (
        <section class="chosen distance" aria-label="Distance of two calls">
            <p>
                {children}
                <button
                    class="quiet"
                    aria-label="Measure no distance"
                    onClick={() => (measuredFrom.value = null)}
                >
                    ✕
                </button>
            </p>
        </section>
    );
}

export function Between() {
    const from = measuredFrom.value;
    if (!from) return null;
    const both = bothNow();
    const { value: first, error } = measuredFromQuery.answer.value;
    if (both)
        return (
            <Said>
                <Words
                    of={distanceOf(spanOf(both[0]), spanOf(both[1]))}
                    first={both[0]}
                    second={both[1]}
                />
            </Said>
        );
    return (
        <Said>
            <span>
                {error !== null
                    ? `The call to measure from is not known: ${error}.`
                    : `Measured from ${first ? `${regionName(first.region)} on ${nameOfLocation(from.location)}` : "a call"}: choose a second one.`}
            </span>
        </Said>
    );
}

/* Of the call that is chosen: distances are measured from it to what is chosen next. */
export function MeasureFromButton() {
    const at = chosenCall.value;
    return (
        <button
            title={`Then choose another call: how far it is from this one is said (${runKeys.keyOf("measureFrom")}; or Shift and click on the other)`}
            onClick={() => (measuredFrom.value = at)}
        >
            Measure from here
        </button>
    );
}
