// How scores are learnt from labels and points placed on the plane: what is used, and what else could be; what the
// last retrain changed, and by which labels. The settings panel of paper 1 (figure 1).
import { useState } from "preact/hooks";
import { Learning, LabelEffect } from "../api/types";
import { formatValue, plural } from "../format/units";
import { retrain, select, showChanged, startProjection } from "../state/actions";
import { isLearningOpen, lastRetrain, learningQuery, typedNumber } from "../state/learning";
import { busy, foi, moving, planeShown, projections } from "../state/store";
import { Dialog } from "./dialog";
import { Failed, Loading } from "./panel";

const planes = { pca: "PCA", mds: "MDS", tsne: "t-SNE" };
const mostGamma = 1e12;

function Choice(props: {
    name: string;
    value: string;
    options: string[];
    isOff?: boolean;
    take: (value: string) => void;
}) {
    return (
        <label>
            {props.name}
            <select
                value={props.value}
                disabled={props.isOff}
                onChange={(e) => props.take(e.currentTarget.value)}
            >
                {props.options.map((option) => (
                    <option value={option}>{option}</option>
                ))}
            </select>
        </label>
    );
}

function Typed(props: {
    name: string;
    says: string;
    value: string;
    usual: string;
    most: number;
    isOff?: boolean;
    take: (value: string) => void;
}) {
    const isWrong = props.value !== "" && typedNumber(props.value, props.most) === null;
    return (
        <label title={props.says}>
            {props.name}
            <input
                inputMode="decimal"
                value={props.value}
                placeholder={props.usual}
                disabled={props.isOff}
                aria-invalid={isWrong}
                onInput={(e) => props.take(e.currentTarget.value)}
            />
        </label>
    );
}

function Learnt({ now }: { now: Learning }) {
    const [learner, setLearner] = useState(now.learner);
    const [features, setFeatures] = useState(now.features);
    const [gamma, setGamma] = useState("");
    const [nu, setNu] = useState("");
    const row = now.learners.find(({ name }) => name === learner);
    const isOff = !row?.uses_features;
    const isSame = learner === now.learner && features === now.features;
    const usualGamma = isSame && now.gamma !== null ? formatValue(now.gamma) : "from the data";
    const isWrong =
        (gamma !== "" && typedNumber(gamma, mostGamma) === null) ||
        (nu !== "" && typedNumber(nu, 1) === null);
    return (
        <>
            <h2>How scores are learnt</h2>
            <p>
                {now.retrain === null
                    ? "As the run was analysed. "
                    : `As retrain ${now.retrain} was. `}
                {row && `${learner}: ${row.what}.`}
            </p>
            <p class="settings">
                <Choice
                    name="learner"
                    value={learner}
                    options={now.learners.map(({ name }) => name)}
                    take={setLearner}
                />
                <Choice
                    name="features"
                    value={features}
                    options={now.feature_kinds}
                    isOff={isOff}
                    take={setFeatures}
                />
                <Typed
                    name="gamma"
                    says="of the kernel exp(-gamma d²)"
                    value={gamma}
                    usual={usualGamma}
                    most={mostGamma}
                    isOff={isOff}
                    take={setGamma}
                />
                <Typed
                    name="C / n"
                    says="nu: the share of the executions that is expected outside of what is typical"
                    value={nu}
                    usual={formatValue(now.nu)}
                    most={1}
                    isOff={isOff}
                    take={setNu}
                />
                <button
                    class="primary"
                    disabled={busy.value !== null || (!isOff && isWrong)}
                    onClick={() =>
                        retrain({
                            learner,
                            ...(isOff
                                ? {}
                                : {
                                      features,
                                      gamma:
                                          typedNumber(gamma, mostGamma) ??
                                          (isSame ? now.gamma : null),
                                      nu: typedNumber(nu, 1) ?? now.nu,
                                  }),
                        })
                    }
                >
                    {busy.value ?? "Retrain"}
                </button>
            </p>
        </>
    );
}

function Execution({ id, tree }: { id: string; tree: number }) {
    return (
        <button
            class="quiet"
            onClick={() => {
                isLearningOpen.value = false;
                select(tree);
            }}
        >
            {id}
        </button>
    );
}

function By({ of }: { of: LabelEffect }) {
    return (
        <li>
            {of.label === "none" ? "the label taken back from " : `${of.label}: `}
            <Execution id={of.id} tree={of.tree} />
            {of.labels > 1 && ` and ${of.labels - 1} more`} moved{" "}
            {of.n_moved ? plural(of.n_moved, "other") : "no other"}
            {of.moved.length > 0 && ": "}
            {of.moved.map((execution, i) => (
                <>
                    {i > 0 && ", "}
                    <Execution {...execution} />
                </>
            ))}
            {of.n_moved > of.moved.length && ", ..."}
        </li>
    );
}

/* An execution moved by labels: without them its verdict would be the other one. */
function Changed() {
    const last = lastRetrain.value;
    if (!last || last.foi !== foi.value?.id) return null;
    const { done } = last;
    const n = done.n_changes ?? done.changes.length;
    return (
        <>
            <h2>What the last retrain changed</h2>
            <p>
                {plural(n, "verdict")} changed
                {n > 0 && (
                    <>
                        {" "}
                        <button
                            onClick={() => {
                                isLearningOpen.value = false;
                                showChanged();
                            }}
                        >
                            Show them
                        </button>
                    </>
                )}
            </p>
            {done.by.length > 0 && (
                <ul>
                    {done.by.map((effect) => (
                        <By of={effect} />
                    ))}
                </ul>
            )}
        </>
    );
}

function Points({ now }: { now: Learning }) {
    const [method, setMethod] = useState<(typeof projections)[number]>(
        planeShown.value === "attributes" ? "tsne" : planeShown.value,
    );
    const [features, setFeatures] = useState(now.score_features);
    const [perplexity, setPerplexity] = useState("");
    const last = foi.value?.projections.find((p) => p.method === method);
    const isTsne = method === "tsne";
    const isWrong = perplexity !== "" && typedNumber(perplexity, 10000) === null;
    return (
        <>
            <h2>Where points lie</h2>
            <p>
                {last
                    ? `${planes[method]} was computed of the features ${last.features}. `
                    : `${planes[method]} is not computed yet. `}
                Scores are made of the features {now.score_features}.
            </p>
            <p class="settings">
                <Choice
                    name="method"
                    value={method}
                    options={[...projections]}
                    take={(value) => setMethod(value as (typeof projections)[number])}
                />
                <Choice
                    name="features"
                    value={features}
                    options={now.feature_kinds}
                    take={setFeatures}
                />
                <Typed
                    name="perplexity"
                    says="of t-SNE: how many neighbours count"
                    value={perplexity}
                    usual="30"
                    most={10000}
                    isOff={!isTsne}
                    take={setPerplexity}
                />
                <button
                    disabled={moving.value !== null || (isTsne && isWrong)}
                    onClick={() => {
                        isLearningOpen.value = false;
                        const typed = isTsne ? typedNumber(perplexity, 10000) : null;
                        startProjection(method, {
                            features,
                            ...(typed === null ? {} : { perplexity: typed }),
                        });
                    }}
                >
                    Compute
                </button>
            </p>
        </>
    );
}

function Body() {
    const { value, error, retry } = learningQuery.answer.value;
    if (error) return <Failed text={error} retry={retry} />;
    if (!value) return <Loading what="settings" />;
    /* Another retrain: what was typed has been used. */
    return (
        <>
            <Learnt key={`learnt ${foi.value?.id} ${value.retrain}`} now={value} />
            <Changed />
            <Points key={`points ${foi.value?.id} ${value.score_features}`} now={value} />
        </>
    );
}

export function LearningDialog() {
    return (
        <Dialog name="learning" label="Learning" isOpen={isLearningOpen}>
            {isLearningOpen.value && <Body />}
            <p class="buttons">
                <button autofocus onClick={() => (isLearningOpen.value = false)}>
                    Close
                </button>
            </p>
        </Dialog>
    );
}
