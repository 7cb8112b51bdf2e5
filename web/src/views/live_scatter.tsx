// Points of a program that is live: as the overview of a run, but they come and go, and a click
// asks for the record of the call.
import { useMemo } from "preact/hooks";
import { makeAxis, spreadOut } from "../canvas/axis";
import { Drawn, LivePoints } from "../canvas/live_points";
import { regionColour } from "../format/colour";
import { executionId } from "../format/ids";
import { formatCount, formatScore, formatTime } from "../format/units";
import { colourChosen, lookAt, looked, nameOfRegion, xChosen, yChosen } from "../state/live";
import { Attribute, theme } from "../state/store";
import { colourPoints } from "./point_colours";
import { PointPlot } from "./point_plot";

function colours(all: LivePoints, isDark: boolean): Uint8Array {
    const by = colourChosen.value;
    const rgba = colourPoints(all, all, by === "region" ? "verdict" : by, isDark);
    if (by !== "region") return rgba;
    const of = new Map<number, number[]>();
    for (let i = 0; i < all.n; i++) {
        if (all.verdict[i]) continue;
        const region = all.region[i];
        if (!of.has(region)) of.set(region, regionColour(nameOfRegion(region)));
        rgba.set(of.get(region)!, 4 * i);
    }
    return rgba;
}

/* A time of the run: what comes late in it is not rare. */
const isMoment = (name: Attribute) => name === "enter_ns" || name === "exit_ns";

function pick(values: ArrayLike<number>, rows: Uint32Array): ArrayLike<number> {
    return rows.length ? Float64Array.from(rows, (row) => values[row]) : values;
}

function Words({ all, row }: { all: LivePoints; row: number }) {
    return (
        <>
            <b>{nameOfRegion(all.region[row])}</b>
            {all.kind[row] === 1 &&
                ` ${executionId(all.rank[row], all.thread[row], all.index[row])}`}{" "}
            on rank {all.rank[row]}
            <br />
            {formatTime(all.duration_ns[row])}, score {formatScore(all.score[row])},{" "}
            {all.verdict[row] ? "anomaly" : all.isJudged[row] ? "normal" : "not judged"}
        </>
    );
}

/* The row of what is looked at; null: it is not among them. */
function rowLookedAt(all: LivePoints): number | null {
    const at = looked.value;
    const row = all.enter_ns.findIndex(
        (enter, i) =>
            enter === at?.enter_ns &&
            all.rank[i] === at.rank &&
            all.duration_ns[i] === at.duration_ns,
    );
    return row < 0 ? null : row;
}

export function LiveScatter({ all, chosen }: { all: LivePoints; chosen: Drawn }) {
    const isDark = theme.value === "dark";
    const [xName, yName] = [xChosen.value, yChosen.value];
    const places = useMemo(() => {
        const [x, y] = [all[xName] as ArrayLike<number>, all[yName] as ArrayLike<number>];
        const axes = [
            makeAxis(pick(x, chosen.order), !isMoment(xName)),
            makeAxis(pick(y, chosen.order), !isMoment(yName)),
        ] as const;
        return { x: spreadOut(x, axes[0]), y: spreadOut(y, axes[1]), axes };
    }, [all, chosen, xName, yName]);
    const rgba = useMemo(() => colours(all, isDark), [all, colourChosen.value, isDark]);
    const points = useMemo(() => ({ ...places, rgba, ...chosen }), [places, rgba, chosen]);
    return (
        <PointPlot
            points={points}
            axes={{ of: [...places.axes], names: [xName, yName] }}
            chosen={null}
            selected={rowLookedAt(all)}
            label={`${formatCount(chosen.order.length)} points; the records are the strange ones as a list`}
            says={(row) => <Words all={all} row={row} />}
            select={lookAt}
        />
    );
}
