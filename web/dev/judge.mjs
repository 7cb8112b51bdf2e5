// judge.mjs -- scores for the mock server: how long and how unusual, corrected near labels. It only
// has to behave like the program (what is labelled moves, and its like with it), not to be good.

const usual = { duration: 0, vertices: 0 };

function median(list) {
    return [...list].sort((a, b) => a - b)[list.length >> 1];
}

/* what an execution is described by, for likeness */
function describe(e) {
    return [Math.log(e.duration_ns / usual.duration), e.isTally ? 2 : 0, e.isFirst ? 2 : 0];
}

export function judge(executions) {
    usual.duration = median(executions.map((e) => e.duration_ns));
    usual.vertices = median(executions.map((e) => e.vertices));
    for (const e of executions) {
        e.vector = describe(e);
        e.detector_score =
            Math.max(0, 4 * Math.abs(e.vector[0])) +
            (e.isFirst ? 3 : 0) +
            (e.isTally ? 1.2 : 0) +
            ((e.tree * 7919) % 100) / 200;
        e.score = e.detector_score;
    }
    place(executions, "rank_before");
    verdicts(executions);
    for (const e of executions) e.verdict_before = e.verdict;
    return usual;
}

function place(executions, field) {
    const sorted = [...executions].sort((a, b) => b.score - a.score || a.tree - b.tree);
    sorted.forEach((e, i) => (e[field] = i + 1));
    return sorted;
}

export const threshold = 2.5;

function verdicts(executions) {
    place(executions, "rank_now");
    for (const e of executions) e.verdict = e.score > threshold ? "anomaly" : "normal";
}

/* Scores from the labels: a labelled execution is as it was labelled, others in so far as alike. */
export function learn(executions, labels) {
    for (const e of executions) {
        let weight = 0;
        let pull = 0;
        for (const [tree, label] of labels) {
            const far = executions[tree].vector.reduce(
                (sum, v, k) => sum + (v - e.vector[k]) ** 2,
                0,
            );
            const like = Math.exp(-4 * far);
            weight += like;
            pull += like * (label === "abnormal" ? 9 : 0.1);
        }
        const share = Math.min(1, weight);
        e.score = e.detector_score * (1 - share) + (weight ? (pull / weight) * share : 0);
    }
    verdicts(executions);
}

export function forget(executions) {
    for (const e of executions) e.score = e.detector_score;
    verdicts(executions);
}
