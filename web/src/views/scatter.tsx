// The points of the overview: where each execution is, its colour, what is said of it, and what choosing it means.
import { computed, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Axis, makeAxis, spreadOut } from "../canvas/axis";
import { exitTimes } from "../canvas/live_points";
import { sample } from "../canvas/sampling";
import { executionId } from "../format/ids";
import { formatCount, formatScore, formatTime, plural } from "../format/units";
import { centreOf, select, selectLasso } from "../state/actions";
import { isFiltered, passingQuery } from "../state/filtered";
import {
    Attribute,
    colourBy,
    details,
    Details,
    Executions,
    lassoed,
    movingHere,
    plane,
    planeShown,
    sampling,
    selected,
    theme,
    xAttribute,
    yAttribute,
    zoomed,
} from "../state/store";
import { colourPoints } from "./point_colours";
import { PointPlot } from "./point_plot";
import { pointKeys, projectionNote } from "./scatter_picture";

const isLassoOn = signal(false);
export const hiddenPoints = signal(0);

export function LassoButton() {
    return (
        <button
            aria-pressed={isLassoOn.value}
            title="Draw around points to choose them all (or hold Shift and drag)"
            onClick={() => (isLassoOn.value = !isLassoOn.value)}
        >
            Lasso
        </button>
    );
}

const needsDetails = computed(
    () =>
        planeShown.value === "attributes" &&
        [xAttribute.value, yAttribute.value].some((a) => isDetail(a)),
);

export function isDetail(attribute: Attribute): boolean {
    return attribute === "rank" || attribute === "messages" || attribute === "vertices";
}

interface Places {
    x: Float32Array;
    y: Float32Array;
    axes: [Axis, Axis] | null; /* null: the axes of a projection mean nothing */
}

function place(all: Executions, more: Details | null): Places {
    const projected = planeShown.value === "attributes" ? null : plane.value;
    const valuesOf = (attribute: Attribute): ArrayLike<number> =>
        attribute === "exit_ns"
            ? exitTimes(all)
            : attribute in all
              ? all[attribute as keyof Executions & Attribute]
              : (more?.[attribute as keyof Details & Attribute] ?? new Float32Array(all.n));
    const x = projected ? projected.x : valuesOf(xAttribute.value);
    const y = projected ? projected.y : valuesOf(yAttribute.value);
    const axes: [Axis, Axis] = [makeAxis(x, !projected), makeAxis(y, !projected)];
    return {
        x: spreadOut(x, axes[0]),
        y: spreadOut(y, axes[1]),
        axes: projected ? null : axes,
    };
}

function Words({ all, tree }: { all: Executions; tree: number }) {
    const more = details.value;
    return (
        <>
            {more && <b>{executionId(more.rank[tree], more.thread[tree], more.index[tree])}</b>}{" "}
            {formatTime(all.duration_ns[tree])}
            {all.runOf && `, ${all.runOf(tree)}`}
            <br />
            score {formatScore(all.score[tree])}, {all.verdict[tree] ? "anomaly" : "normal"}
            {all.label[tree] !== 0 &&
                `, labelled ${all.label[tree] > 0 ? "abnormal" : "normal"}`}
            <br />
            {more &&
                `${formatCount(more.messages[tree])} messages, ${formatCount(more.vertices[tree])} calls`}
        </>
    );
}

/* label: what it is, for those who cannot see it. */
export function Scatter({ all, label }: { all: Executions; label?: string }) {
    const isDark = theme.value === "dark";
    const places = useMemo(
        () => place(all, details.value),
        [
            all.enter_ns,
            all.score,
            needsDetails.value && details.value,
            planeShown.value,
            plane.value,
            xAttribute.value,
            yAttribute.value,
        ],
    );
    const rgba = useMemo(
        () => colourPoints(all, details.value, colourBy.value, isDark),
        [all, colourBy.value, colourBy.value === "rank" && details.value, isDark],
    );
    const isPart = isFiltered.value;
    const passes = passingQuery.answer.value.value?.passes;
    const sampled = useMemo(() => {
        const chosen = new Set<number>(lassoed.value ?? []);
        const isIn = isPart ? (tree: number) => passes?.[tree] === 1 : null;
        return sample(all.verdict, all.label, sampling.value, chosen, isIn);
    }, [all.verdict, all.label, sampling.value, lassoed.value, isPart, passes]);
    const points = useMemo(() => ({ ...places, rgba, ...sampled }), [places, rgba, sampled]);
    useEffect(() => {
        hiddenPoints.value = sampled.hidden;
    }, [sampled]);

    const figure = () => {
        const hidden = plural(sampled.hidden, "execution");
        return {
            rgba: colourPoints(all, details.value, colourBy.value, false),
            keys: pointKeys(colourBy.value, all, selected.value !== null),
            notes: [
                ...(places.axes ? [] : [projectionNote(planeShown.value)]),
                ...(colourBy.value === "rank"
                    ? ["A colour is a rank; several share one."]
                    : []),
                ...(sampled.hidden ? [`${hidden} of ${formatCount(all.n)} not drawn.`] : []),
                ...(isPart ? ["Those that pass the filter."] : []),
            ],
        };
    };
    const isMoving = movingHere.value !== null;
    return (
        <PointPlot
            points={points}
            axes={
                places.axes && { of: places.axes, names: [xAttribute.value, yAttribute.value] }
            }
            chosen={lassoed.value}
            selected={selected.value}
            label={
                label ??
                `${formatCount(all.n)} executions as points; the executions on the left are the same as a list`
            }
            says={isMoving ? undefined : (tree) => <Words all={all} tree={tree} />}
            select={select}
            lasso={{
                isOn: isLassoOn,
                choose: (trees) => selectLasso(trees, centreOf(trees, places.x, places.y)),
            }}
            zoomed={zoomed}
            figure={figure}
        />
    );
}
