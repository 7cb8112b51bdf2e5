// The overview: every execution is a point. The tools above it choose the plane, the colour and how
// many of the normal executions are drawn; anomalies always are.
import { formatCount, plural } from "../format/units";
import { cancelProjection, labelTrees, startProjection } from "../state/actions";
import {
    Attribute,
    attributes,
    ColourBy,
    colourBy,
    details,
    executions,
    foi,
    lassoed,
    movingHere,
    plane,
    Plane,
    planeName,
    planeShown,
    sampling,
    xAttribute,
    yAttribute,
} from "../state/store";
import { isFiltered, passingQuery } from "../state/filtered";
import { detailsQuery, executionsQuery, planeQuery } from "../state/load";
import { Choice } from "./live_panel";
import { Empty, Failed, Loading, Panel } from "./panel";
import { hiddenPoints, isDetail, LassoButton, Scatter } from "./scatter";

const attributeNames: Record<Attribute, string> = {
    enter_ns: "time",
    exit_ns: "time it ended",
    duration_ns: "duration",
    rank: "rank",
    score: "score",
    messages: "messages",
    vertices: "calls in it",
};

export const attributeOptions = attributes.map((a): [Attribute, string] => [
    a,
    attributeNames[a],
]);

const planeNames: Record<Plane, string> = {
    pca: "PCA",
    mds: "MDS",
    tsne: "t-SNE",
    attributes: "Attributes",
};

export function AttributeChoice(props: { name: string; of: typeof xAttribute }) {
    return (
        <label>
            {props.name}{" "}
            <Choice
                value={props.of.value}
                options={attributeOptions}
                choose={(a) => (props.of.value = a)}
            />
        </label>
    );
}

function Tools() {
    return (
        <>
            <label>
                <span class="visually-hidden">Place points by</span>
                <Choice
                    value={planeShown.value}
                    title="PCA, MDS, t-SNE: executions that are alike lie near each other"
                    options={Object.entries(planeNames) as [Plane, string][]}
                    choose={(p) => (planeName.value = p)}
                />
            </label>
            {planeShown.value === "attributes" && (
                <>
                    <AttributeChoice name="x" of={xAttribute} />
                    <AttributeChoice name="y" of={yAttribute} />
                </>
            )}
            <span class="together">
                <label>
                    colour{" "}
                    <Choice
                        value={colourBy.value}
                        options={(["verdict", "score", "label", "rank"] as ColourBy[]).map(
                            (c) => [c, c],
                        )}
                        choose={(c) => (colourBy.value = c)}
                    />
                </label>
                <LassoButton />
            </span>
        </>
    );
}

function Moving() {
    const state = movingHere.value;
    if (!state) return null;
    return (
        <div class="over-plot" role="status">
            placing the points
            {state.iterations
                ? `: ${formatCount(state.iteration)} of ${formatCount(state.iterations)}`
                : " ..."}{" "}
            <progress
                aria-label="progress"
                value={state.iteration}
                max={state.iterations || 1}
            />
            <button onClick={cancelProjection}>Stop</button>
        </div>
    );
}

function Chosen() {
    const trees = lassoed.value;
    if (!trees?.length) return null;
    return (
        <div
            class="over-plot chosen"
            role="status"
            title="The one in the middle of them is selected"
        >
            <b>{plural(trees.length, "execution")}</b> chosen. All are
            <span class="labels">
                <button class="label-abnormal" onClick={() => labelTrees(trees, "abnormal")}>
                    <span aria-hidden="true">▲</span> Abnormal
                </button>
                <button class="label-normal" onClick={() => labelTrees(trees, "normal")}>
                    <span aria-hidden="true">●</span> Normal
                </button>
            </span>
            <button
                class="quiet"
                onClick={() => (lassoed.value = null)}
                aria-label="Choose none"
            >
                ✕
            </button>
        </div>
    );
}

function hiddenWords(): string {
    const { isLoading, error } = passingQuery.answer.value;
    if (error) return `not known: ${error}`;
    if (isLoading) return "filtering ...";
    return hiddenPoints.value
        ? `${plural(hiddenPoints.value, "point")} hidden`
        : "all points shown";
}

function Sampling() {
    return (
        <div class="sampling">
            <label>
                normal ones drawn{" "}
                <input
                    type="range"
                    min="0"
                    max="100"
                    step="1"
                    value={sampling.value}
                    aria-valuetext={`${sampling.value} percent`}
                    onInput={(e) => (sampling.value = Number(e.currentTarget.value))}
                />
                <output>
                    {sampling.value === 0 ? "anomalies only" : `${sampling.value} %`}
                </output>
            </label>
            {planeShown.value !== "attributes" && <span>near: alike</span>}
            {isFiltered.value && <span>those that pass the filter</span>}
            <span>{hiddenWords()}</span>
        </div>
    );
}

function Body() {
    const { error, retry } = executionsQuery.answer.value;
    if (error) return <Failed text={error} retry={retry} />;
    const all = executions.value;
    if (!all) return <Loading what="executions" />;
    if (!all.n) return <Empty>{foi.value?.name} was never called.</Empty>;
    const method = planeShown.value;
    if (method !== "attributes" && !plane.value) {
        const asked = planeQuery.answer.value;
        if (asked.error) return <Failed text={asked.error} retry={asked.retry} />;
        if (movingHere.value || asked.isLoading)
            return (
                <>
                    <Loading what="points" />
                    <Moving />
                </>
            );
        return (
            <Empty>
                <p>{planeNames[method]} is not computed yet.</p>
                <button class="primary" onClick={() => startProjection(method)}>
                    Compute it
                </button>
            </Empty>
        );
    }
    const isPlaced =
        method !== "attributes" || ![xAttribute.value, yAttribute.value].some(isDetail);
    const isWhole = isPlaced && colourBy.value !== "rank";
    const more = detailsQuery.answer.value;
    if (!isWhole && more.error) return <Failed text={more.error} retry={more.retry} />;
    if (!isWhole && !details.value) return <Loading what="points" />;
    return (
        <>
            <Scatter all={all} />
            <Moving />
            <Chosen />
            <Sampling />
        </>
    );
}

export function Overview() {
    return (
        <Panel name="overview" tools={<Tools />}>
            <Body />
        </Panel>
    );
}
