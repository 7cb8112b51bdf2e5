// mock.mjs -- a server that speaks as `snag serve` does, over a small made-up run, so that the
// page can be worked on and tested without the program: node dev/mock.mjs [--port P] [--many N]
//
// --many N: a forest of N executions (columns only are real), to see how the page copes.
import http from "node:http";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { fullName, makeProgram } from "./program.mjs";
import { forget, judge, learn, threshold } from "./judge.mjs";
import { callTree, explain, sketch, subtrees, typical } from "./explain.mjs";
import { bundle, csp, problem, sendJson } from "./wire.mjs";

const option = (name, otherwise) => {
    const i = process.argv.indexOf(name);
    return i > 0 ? Number(process.argv[i + 1]) : otherwise;
};
const many = option("--many", 0);
const here = path.dirname(fileURLToPath(import.meta.url));
const pageDir = process.env.SNAG_PAGE_OUT || path.join(here, "../dist");

const program = makeProgram(
    many ? { ranks: 8, steps: Math.ceil(many / 8) > 4000 ? 4000 : Math.ceil(many / 8) } : {},
);
const { executions, locations, messages, names } = program;
const usual = judge(executions);
const usualTree = typical(program);
const labels = new Map(); /* tree -> label */
const log = []; /* retrains */
let learnt = new Map(); /* the labels of the newest retrain */
const acts = {
    done: [],
    undone: [],
}; /* each knows its kind, its labels, and how to go both ways */
const listeners = new Set();
let projected = ["pca"];
let running = null;

const end_ns = Math.max(...locations.map((l) => l.calls.at(-1).leave_ns));
const n = many || executions.length;
const idOf = (e) => `#${e.rank}-${e.index}`;

function emit(event, data) {
    for (const response of listeners)
        response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function actJson(act) {
    return act ? { kind: act.kind, labels: act.labels ?? 0 } : null;
}

function runJson() {
    const count = (label) => [...labels.values()].filter((l) => l === label).length;
    return {
        snag: "0",
        name: "mock.snag",
        trace: "mock",
        source: "synth",
        created: "2026-01-01T00:00:00Z",
        begin_ns: 0,
        end_ns,
        n_calls: locations.reduce((sum, l) => sum + l.calls.length, 0),
        n_messages: messages.length,
        is_live: false,
        shows: "run",
        fois: [
            {
                id: 0,
                name: "compute",
                trees: n,
                vertices: executions.reduce((s, e) => s + e.vertices, 0),
                messages: executions.reduce((s, e) => s + e.messages, 0),
                unique_subtrees: 12,
                max_depth: 4,
                features: "residual",
                detector: "residual",
                threshold,
                anomalies: executions.filter((e) => e.verdict === "anomaly").length,
                labels: {
                    abnormal: count("abnormal"),
                    normal: count("normal"),
                    to_learn: new Set(
                        [...labels.keys(), ...learnt.keys()].filter(
                            (tree) => labels.get(tree) !== learnt.get(tree),
                        ),
                    ).size,
                },
                undo: actJson(acts.done.at(-1)),
                redo: actJson(acts.undone.at(-1)),
                retrain: log.at(-1) ?? null,
                projections: projected.map((method) => ({
                    method,
                    features: "residual",
                    iterations: 100,
                    cost: 1,
                })),
            },
        ],
        locations: locations.map((l, rank) => ({
            id: rank,
            rank,
            thread: 0,
            name: `rank ${rank}`,
            node: "",
            is_gpu: false,
            calls: l.calls.length,
            first_ns: l.calls[0].enter_ns,
            last_ns: l.calls.at(-1).leave_ns,
            clock_offset_ns: 0,
        })),
        quality: [
            {
                kind: "unmatched_send",
                location: 2,
                count: 3,
                is_damage: false,
                text: "messages sent whose receive is not in the trace",
            },
        ],
        clocks: { checked: messages.length, wrong_before: 0, wrong: 0, corrected_ranks: 0 },
    };
}

function regionsJson() {
    return names.map((name, id) => {
        const calls = locations.flatMap((l) => l.calls.filter((c) => c.region === id));
        const times = calls.map((c) => c.leave_ns - c.enter_ns);
        const sum = times.reduce((s, t) => s + t, 0);
        return {
            id,
            name: fullName(name),
            short_name: name,
            kind: name.startsWith("MPI_") ? "mpi" : "user",
            calls: calls.length,
            inclusive_ns: sum,
            exclusive_ns: calls.reduce((s, c) => s + c.exclusive_ns, 0),
            outermost: calls.length,
            min_ns: times.reduce((a, b) => Math.min(a, b), Infinity),
            max_ns: times.reduce((a, b) => Math.max(a, b), 0),
            variation: 0.5,
            locations: locations.length,
        };
    });
}

/* points: clusters apart by what the judge sees, and a swirl that turns while t-SNE runs */
function point(e, turn = 0) {
    const [a, b, c] = e.vector;
    const noise = (((e.tree * 2654435761) >>> 0) / 2 ** 32) * 6.283;
    const r = 0.25 * (((e.tree * 40503) % 1000) / 1000);
    const x = a * 2 + b * 1.5 + r * Math.cos(noise);
    const y = c * 1.5 - b * 0.5 + r * Math.sin(noise);
    return [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)];
}

const of = (tree) => executions[tree % executions.length];

function column(name) {
    const typed = {
        enter_ns: Float64Array,
        exit_ns: Float64Array,
        duration_ns: Float64Array,
        score: Float32Array,
        rank: Uint32Array,
        thread: Uint32Array,
        index: Uint32Array,
        location: Uint32Array,
        vertices: Uint32Array,
        messages: Uint32Array,
        verdict: Uint8Array,
        label: Int8Array,
    }[name];
    const [method, axis] = name.split(".");
    if (!typed && !(projected.includes(method) && (axis === "x" || axis === "y"))) return null;
    const out = new (typed ?? Float32Array)(n);
    const spread = many
        ? (tree) => ((Math.imul(tree, 747796405) >>> 8) / 2 ** 24 - 0.5) * 0.5
        : () => 0;
    const value = axis
        ? (e, tree) =>
              point(e)[axis === "x" ? 0 : 1] + spread(tree * 2 + (axis === "x" ? 0 : 1))
        : ({
              exit_ns: (e) => e.enter_ns + e.duration_ns,
              thread: () => 0,
              verdict: (e, tree) => Number(e.verdict === "anomaly" && tree < executions.length),
              label: (e, tree) => ({ abnormal: 1, normal: -1 })[labels.get(tree)] ?? 0,
          }[name] ?? ((e) => e[name]));
    for (let tree = 0; tree < n; tree++) out[tree] = value(of(tree), tree);
    return out;
}

function executionJson(e) {
    const { why } = explain(program, e, usual, usualTree);
    return {
        id: idOf(e),
        tree: e.tree,
        foi: "compute",
        rank: e.rank,
        thread: 0,
        index: e.index,
        location: e.location,
        call: e.call,
        enter_ns: e.enter_ns,
        duration_ns: e.duration_ns,
        vertices: e.vertices,
        messages: e.messages,
        score: e.score,
        cost_ns: null,
        cost_is_bound: false,
        false_alarm_probability: Math.exp(-4 * e.detector_score),
        verdict: e.verdict,
        label: labels.get(e.tree) ?? null,
        why,
    };
}

function candidateJson(e) {
    return {
        ...executionJson(e),
        part: "time",
        cause: null,
        rank_now: e.rank_now,
        rank_before: e.rank_before,
        verdict_before: e.verdict_before,
        sketch: sketch(program, e, usualTree),
    };
}

/* The part of a list that is asked for. */
function page(list, query, json) {
    const offset = Number(query.get("offset") ?? 0);
    return {
        total: list.length,
        items: list.slice(offset, offset + Number(query.get("limit") ?? 50)).map(json),
    };
}

/* What is strange in the same step on several ranks, when the detector alone judges, is one. */
const incidents = (() => {
    const suspects = executions.filter((e) => e.detector_score > threshold / 2);
    const lost = (e) => Math.max(0, e.duration_ns - usual.duration);
    return [...new Set(suspects.map((e) => e.index))]
        .map((index) => {
            const members = suspects.filter((e) => e.index === index);
            const head = [...members].sort((a, b) => lost(b) - lost(a))[0];
            return { members, head, lost_ns: members.reduce((sum, e) => sum + lost(e), 0) };
        })
        .sort((a, b) => b.lost_ns - a.lost_ns)
        .map((incident, i) => ({ ...incident, id: i + 1 }));
})();

const isAnomaly = ({ members }) => members.some((e) => e.verdict === "anomaly");

function incidentJson(incident) {
    const { id, members, head } = incident;
    return {
        id,
        foi: "compute",
        score: Math.max(...members.map((e) => e.score)),
        verdict: isAnomaly(incident) ? "anomaly" : "normal",
        begin_ns: Math.min(...members.map((e) => e.enter_ns)),
        end_ns: Math.max(...members.map((e) => e.enter_ns + e.duration_ns)),
        lost_ns: Math.round(incident.lost_ns),
        cost_ns: null,
        head: idOf(head),
        head_tree: head.tree,
        rank: head.rank,
        members: members.map(idOf),
        member_trees: members.map((e) => e.tree),
        ranks: [...new Set(members.map((e) => e.rank))],
        why: explain(program, head, usual, usualTree).why,
    };
}

function listIncidents(query) {
    const { rank, verdict, label } = Object.fromEntries(query);
    const list = incidents
        .filter((i) => !verdict || isAnomaly(i) === (verdict === "anomaly"))
        .filter((i) => label !== "none" || !i.members.some((e) => labels.has(e.tree)))
        .filter((i) =>
            i.members.some(
                (e) =>
                    (!rank || e.rank === Number(rank)) &&
                    (!label || label === "none" || labels.get(e.tree) === label),
            ),
        )
        .sort((a, b) => isAnomaly(b) - isAnomaly(a) || b.lost_ns - a.lost_ns);
    return page(list, query, incidentJson);
}

function incidentOf(e) {
    const found = incidents.find(({ members }) => members.includes(e));
    return found ? incidentJson(found) : null;
}

function candidates(query) {
    const wanted = query.get("label");
    const list = executions
        .filter((e) => !query.get("rank") || e.rank === Number(query.get("rank")))
        .filter((e) => !query.get("verdict") || e.verdict === query.get("verdict"))
        .filter((e) => !wanted || (labels.get(e.tree) ?? "none") === wanted)
        .filter((e) => query.get("order") !== "next" || !labels.has(e.tree))
        .sort((a, b) => a.rank_now - b.rank_now);
    return page(list, query, candidateJson);
}

function showJson(e) {
    const told = explain(program, e, usual, usualTree);
    return {
        ...executionJson(e),
        ...told,
        exit_ns: e.enter_ns + e.duration_ns,
        place: e.rank_now,
        of: n,
        usual_duration_ns: usual.duration,
        usual_vertices: usual.vertices,
        peers: executions
            .filter((o) => o.index === e.index && o.rank !== e.rank && o.verdict === "anomaly")
            .map(idOf)
            .slice(0, 5),
        incident: incidentOf(e),
    };
}

function timeline(query) {
    const [begin, end] = [Number(query.get("begin")), Number(query.get("end"))];
    const pixel = (end - begin) / Number(query.get("width") ?? 1000);
    const rows = [];
    for (const location of query.get("locations").split(",").map(Number)) {
        const last = new Map(); /* depth -> the rectangle that narrow calls are merged into */
        for (const call of locations[location]?.calls ?? []) {
            if (call.leave_ns < begin || call.enter_ns > end) continue;
            const before = last.get(call.depth);
            const isNarrow = call.leave_ns - call.enter_ns < pixel;
            if (isNarrow && before?.isNarrow && call.leave_ns - before.begin < pixel) {
                before.end = call.leave_ns;
                before.merged++;
                continue;
            }
            const row = {
                begin: call.enter_ns,
                end: call.leave_ns,
                location,
                depth: call.depth,
                region: call.region,
                call: call.row,
                merged: 1,
                isNarrow,
            };
            last.set(call.depth, row);
            rows.push(row);
        }
    }
    const pick = (typed, field) => typed.from(rows, (r) => r[field]);
    return bundle(
        {
            begin_ns: pick(Float64Array, "begin"),
            end_ns: pick(Float64Array, "end"),
            location: pick(Uint32Array, "location"),
            depth: pick(Uint16Array, "depth"),
            region: pick(Uint32Array, "region"),
            call: pick(Uint32Array, "call"),
            merged: pick(Uint32Array, "merged"),
        },
        { messages: { n: 0, shown: 0 } },
    );
}

function messagesIn(query) {
    const [begin, end] = [Number(query.get("begin")), Number(query.get("end"))];
    const wanted = new Set(query.get("locations").split(",").map(Number));
    const list = messages.filter(
        (m) => m.recv_ns >= begin && m.send_ns <= end && wanted.has(m.from) && wanted.has(m.to),
    );
    const shown = list.slice(0, Number(query.get("limit") ?? 2000));
    const pick = (typed, field) => typed.from(shown, (m) => m[field]);
    return bundle(
        {
            send_ns: pick(Float64Array, "send_ns"),
            recv_ns: pick(Float64Array, "recv_ns"),
            from: pick(Uint32Array, "from"),
            to: pick(Uint32Array, "to"),
            bytes: pick(Float64Array, "bytes"),
            tag: pick(Uint32Array, "tag"),
            send_call: pick(Uint32Array, "send_call"),
            recv_call: pick(Uint32Array, "recv_call"),
        },
        { total: list.length, shown: shown.length },
    );
}

/* There are none in this program. */
const wholes =
    "region comm kind members known last_location last_call part.of part.location part.call";
const reals =
    "last_ns wait_ns sent_bytes received_bytes part.begin_ns part.end_ns part.wait_ns";
const noCollectives = Object.fromEntries([
    ...wholes.split(" ").map((name) => [name, new Uint32Array()]),
    ...reals.split(" ").map((name) => [name, new Float64Array()]),
]);

function callJson(location, row) {
    const calls = locations[location]?.calls;
    const call = calls?.[row];
    if (!call) return null;
    const chain = [];
    for (let c = call; c; c = calls[c.parent]) chain.unshift(c.region);
    const beside = calls.flatMap((c, i) => (c.depth === call.depth ? [i] : []));
    const place = beside.indexOf(row);
    const inside = calls.findIndex((c) => c.parent === row);
    return {
        before: beside[place - 1] ?? null,
        after: beside[place + 1] ?? null,
        first_child: inside < 0 ? null : inside,
        region: call.region,
        enter_ns: call.enter_ns,
        leave_ns: call.leave_ns,
        exclusive_ns: call.exclusive_ns,
        depth: call.depth,
        parent: call.parent,
        n_children: calls.filter((c) => c.parent === row).length,
        path: chain,
        messages: [],
        n_messages: 0,
        collective: null,
        arguments: [],
        n_arguments: 0,
        counters: [],
        n_counters: 0,
    };
}

function searchNext(query) {
    const region = Number(query.get("region"));
    const after = Number(query.get("after") ?? 0);
    const found = locations
        .flatMap((l) => l.calls)
        .filter((c) => c.region === region && c.enter_ns > after)
        .sort((a, b) => a.enter_ns - b.enter_ns)[0];
    return (
        found && {
            location: found.location,
            call: found.row,
            enter_ns: found.enter_ns,
            leave_ns: found.leave_ns,
            depth: found.depth,
        }
    );
}

const execution = (tree) => (Number(tree) < n ? of(Number(tree)) : null);

/* pattern, what to answer: bytes are a bundle, null is a 404 */
const gets = [
    [/^\/run$/, () => runJson()],
    [/^\/regions$/, () => regionsJson()],
    [
        /^\/fois\/0\/columns$/,
        (query) => {
            const list = query
                .get("names")
                .split(",")
                .map((name) => [name, column(name)]);
            return list.every(([, c]) => c) ? bundle(Object.fromEntries(list), {}) : null;
        },
    ],
    [/^\/fois\/0\/candidates$/, candidates],
    [/^\/fois\/0\/incidents$/, listIncidents],
    [
        /^\/fois\/0\/executions\/(\d+)$/,
        (_, tree) => execution(tree) && showJson(execution(tree)),
    ],
    [
        /^\/fois\/0\/executions\/(\d+)\/tree$/,
        (_, tree) => execution(tree) && callTree(program, execution(tree), usualTree),
    ],
    [
        /^\/fois\/0\/executions\/(\d+)\/subtrees$/,
        (_, tree) => execution(tree) && { subtrees: subtrees(program, execution(tree)) },
    ],
    [/^\/fois\/0\/typical\/there$/, () => ({ items: [] })],
    [/^\/fois\/0\/typical$/, () => ({ nodes: usualTree.nodes })],
    [
        /^\/fois\/0\/projection$/,
        () => running && bundle(running.points(), { ...running.state, running: true }),
    ],
    [/^\/fois\/0\/retrains$/, () => log],
    [/^\/timeline$/, timeline],
    [/^\/messages$/, messagesIn],
    [/^\/collectives$/, () => bundle(noCollectives, { total: 0, shown: 0 })],
    [/^\/calls\/(\d+)\/(\d+)$/, (_, location, row) => callJson(Number(location), Number(row))],
    [
        /^\/search$/,
        (query) => ({
            items: regionsJson()
                .filter((r) => r.name.includes(query.get("q")))
                .map((r) => ({ region: r.id, name: r.name, calls: r.calls })),
        }),
    ],
    [/^\/search\/next$/, searchNext],
];

function retrained(before) {
    const changes = executions
        .filter((e, i) => e.verdict !== before[i].verdict)
        .map((e) => ({
            id: idOf(e),
            tree: e.tree,
            score: e.score,
            before: before[e.tree].score,
            verdict: e.verdict,
        }));
    emit("retrain", { foi: 0, id: log.length });
    return {
        retrain: log.length,
        abnormal: [...labels.values()].filter((l) => l === "abnormal").length,
        normal: [...labels.values()].filter((l) => l === "normal").length,
        anomalies: executions.filter((e) => e.verdict === "anomaly").length,
        rank_ns: 1,
        n_changes: changes.length,
        changes,
    };
}

const judgements = () => executions.map((e) => ({ verdict: e.verdict, score: e.score }));

function project(method) {
    const state = { method, iteration: 0, iterations: 40, cost: 3 };
    running = {
        state,
        points: () => {
            const turn = (1 - state.iteration / state.iterations) * 3;
            const at = Array.from({ length: n }, (_, tree) => point(of(tree), turn));
            return {
                x: Float32Array.from(at, (p) => p[0]),
                y: Float32Array.from(at, (p) => p[1]),
            };
        },
    };
    const timer = setInterval(() => {
        state.iteration += 2;
        if (!running || state.iteration >= state.iterations) {
            clearInterval(timer);
            running = null;
            projected = [...new Set([...projected, method])];
        }
        emit("projection", { foi: 0, ...state, running: running !== null });
    }, 60);
}

/* Does it, so that it can be undone. */
function act(of) {
    acts.done.push(of);
    acts.undone = [];
    return of.redo();
}

function setLabels(given) {
    for (const [tree, label] of given)
        if (label === undefined || label === "clear") labels.delete(tree);
        else labels.set(tree, label);
    emit("labels", { foi: 0 });
    return { labels: given.length };
}

function labelled(given) {
    const before = given.map(([tree]) => [tree, labels.get(tree)]);
    return act({
        kind: "labels",
        labels: given.length,
        redo: () => setLabels(given),
        undo: () => setLabels(before),
    });
}

/* Judges by labels, or by none where `of` is null. */
function judgeBy(of, row) {
    const before = judgements();
    learnt = of ?? new Map();
    if (of) learn(executions, of);
    else forget(executions);
    if (row) log.push(row);
    else log.pop();
    return retrained(before);
}

function retrain() {
    const by = new Map(labels);
    const before = log.length ? learnt : null;
    const row = {
        id: log.length + 1,
        learner: "reasons",
        at: "2026-01-01T00:00:00Z",
        anomalies: 0,
    };
    return act({
        kind: "retrain",
        redo: () => judgeBy(by, row),
        undo: () => judgeBy(before, null),
    });
}

function turn(way) {
    const [from, to] = way === "undo" ? [acts.done, acts.undone] : [acts.undone, acts.done];
    const of = from.pop();
    if (!of) return problem(404, `there is nothing to ${way}`);
    to.push(of);
    const done = of[way]();
    return of.kind === "labels"
        ? { kind: "labels", labels: done.labels, retrain: null }
        : { kind: "retrain", labels: 0, retrain: done };
}

const posts = [
    [
        /^\/fois\/0\/labels$/,
        (body) => labelled(body.labels.map(({ tree, label }) => [tree, label])),
    ],
    [/^\/fois\/0\/undo$/, () => turn("undo")],
    [/^\/fois\/0\/redo$/, () => turn("redo")],
    [/^\/fois\/0\/retrain$/, retrain],
    [
        /^\/fois\/0\/projection$/,
        () => running && bundle(running.points(), { ...running.state, running: true }),
    ],
    [/^\/fois\/0\/retrains$/, () => log],
    [/^\/timeline$/, timeline],
    [/^\/messages$/, messagesIn],
    [/^\/collectives$/, () => bundle(noCollectives, { total: 0, shown: 0 })],
    [/^\/calls\/(\d+)\/(\d+)$/, (_, location, row) => callJson(Number(location), Number(row))],
    [
        /^\/search$/,
        (query) => ({
            items: regionsJson()
                .filter((r) => r.name.includes(query.get("q")))
                .map((r) => ({ region: r.id, name: r.name, calls: r.calls })),
        }),
    ],
    [/^\/search\/next$/, searchNext],
];

function retrained(before) {
    const changes = executions
        .filter((e, i) => e.verdict !== before[i].verdict)
        .map((e) => ({
            id: idOf(e),
            tree: e.tree,
            score: e.score,
            before: before[e.tree].score,
            verdict: e.verdict,
        }));
    emit("retrain", { foi: 0, id: log.length });
    return {
        retrain: log.length,
        abnormal: [...labels.values()].filter((l) => l === "abnormal").length,
        normal: [...labels.values()].filter((l) => l === "normal").length,
        anomalies: executions.filter((e) => e.verdict === "anomaly").length,
        rank_ns: 1,
        n_changes: changes.length,
        changes,
    };
}

const judgements = () => executions.map((e) => ({ verdict: e.verdict, score: e.score }));

function project(method) {
    const state = { method, iteration: 0, iterations: 40, cost: 3 };
    running = {
        state,
        points: () => {
            const turn = (1 - state.iteration / state.iterations) * 3;
            const at = Array.from({ length: n }, (_, tree) => point(of(tree), turn));
            return {
                x: Float32Array.from(at, (p) => p[0]),
                y: Float32Array.from(at, (p) => p[1]),
            };
        },
    };
    const timer = setInterval(() => {
        state.iteration += 2;
        if (!running || state.iteration >= state.iterations) {
            clearInterval(timer);
            running = null;
            projected = [...new Set([...projected, method])];
        }
        emit("projection", { foi: 0, ...state, running: running !== null });
    }, 60);
}

/* Does it, so that it can be undone. */
function act(of) {
    acts.done.push(of);
    acts.undone = [];
    return of.redo();
}

function setLabels(given) {
    for (const [tree, label] of given)
        if (label === undefined || label === "clear") labels.delete(tree);
        else labels.set(tree, label);
    emit("labels", { foi: 0 });
    return { labels: given.length };
}

function labelled(given) {
    const before = given.map(([tree]) => [tree, labels.get(tree)]);
    return act({
        kind: "labels",
        labels: given.length,
        redo: () => setLabels(given),
        undo: () => setLabels(before),
    });
}

/* Judges by labels, or by none where `of` is null. */
function judgeBy(of, row) {
    const before = judgements();
    learnt = of ?? new Map();
    if (of) learn(executions, of);
    else forget(executions);
    if (row) log.push(row);
    else log.pop();
    return retrained(before);
}

function retrain() {
    const by = new Map(labels);
    const before = log.length ? learnt : null;
    const row = {
        id: log.length + 1,
        learner: "reasons",
        at: "2026-01-01T00:00:00Z",
        anomalies: 0,
    };
    return act({
        kind: "retrain",
        redo: () => judgeBy(by, row),
        undo: () => judgeBy(before, null),
    });
}

function turn(way) {
    const [from, to] = way === "undo" ? [acts.done, acts.undone] : [acts.undone, acts.done];
    const of = from.pop();
    if (!of) return problem(404, `there is nothing to ${way}`);
    to.push(of);
    const done = of[way]();
    return of.kind === "labels"
        ? { kind: "labels", labels: done.labels, retrain: null }
        : { kind: "retrain", labels: 0, retrain: done };
}

const posts = [
    [
        /^\/fois\/0\/labels$/,
        (body) => labelled(body.labels.map(({ tree, label }) => [tree, label])),
    ],
    [/^\/fois\/0\/undo$/, () => turn("undo")],
    [/^\/fois\/0\/redo$/, () => turn("redo")],
    [
        /^\/fois\/0\/retrain$/,
        () => {
            const before = judgements();
            learn(executions, labels);
            log.push({
                id: log.length + 1,
                learner: "reasons",
                at: "2026-01-01T00:00:00Z",
                anomalies: 0,
            });
            return retrained(before);
        },
    ],
    [
        /^\/fois\/0\/retrain\/undo$/,
        () => {
            const before = judgements();
            forget(executions);
            log.pop();
            return retrained(before);
        },
    ],
    [
        /^\/fois\/0\/projection$/,
        (body) => {
            if (running) return problem(409, "a projection is being made");
            project(body.method);
            return { method: body.method };
        },
    ],
    [
        /^\/fois\/0\/projection\/cancel$/,
        () => {
            running = null;
            return {};
        },
    ],
];

function answer(table, url, argument) {
    const where = url.pathname.replace("/api/v1", "");
    for (const [pattern, act] of table) {
        const match = pattern.exec(where);
        if (match)
            return act(argument, ...match.slice(1)) || problem(404, "there is no such thing");
    }
    return problem(404, "not found");
}

async function asset(url, response) {
    const name = url.pathname === "/" ? "index.html" : path.basename(url.pathname);
    const type = {
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript",
        ".css": "text/css",
    }[path.extname(name)];
    try {
        const bytes = await readFile(path.join(pageDir, name));
        response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": csp });
        response.end(bytes);
    } catch {
        response.writeHead(404).end();
    }
}

const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (!url.pathname.startsWith("/api/v1")) return asset(url, response);
    if (url.pathname === "/api/v1/events") {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(": hello\n\n");
        listeners.add(response);
        return request.on("close", () => listeners.delete(response));
    }
    if (url.pathname === "/api/v1/labels.csv") {
        response.writeHead(200, {
            "Content-Type": "text/csv",
            "Content-Disposition": "attachment",
        });
        const lines = [...labels].map(
            ([tree, label]) => `${idOf(executions[tree])},${label},mock,2026-01-01T00:00:00Z\n`,
        );
        return response.end("id,label,author,at\n" + lines.join(""));
    }
    if (request.method === "GET")
        return sendJson(response, answer(gets, url, url.searchParams));
    let text = "";
    for await (const part of request) text += part;
    sendJson(response, answer(posts, url, JSON.parse(text)));
});

server.listen(option("--port", 8321), "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${server.address().port}/`),
);
