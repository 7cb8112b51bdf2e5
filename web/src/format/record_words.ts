// Why the call of a record is strange, in sentences.
import { RecordBody, RecordCause } from "../api/live_types";
import { costWords } from "./cost_words";
import { formatCount, formatTime, plural } from "./units";

const us = 1000; /* ns */
const rarest = 1e-9; /* beyond it a model knows nothing */
const mostListed = 6;

export type NameOf = (func: string) => string;

const waits: Record<string, string> = {
    sender: "waited for its sender",
    receiver: "waited for its receiver",
    collective: "waited for the others of the collective operation",
    unknown: "waited, no record says for whom",
};

/* "rank 0 waited for its sender, rank 3, in MPI_Wait (8.29 ms)" and so on to the cause. */
function chain(cause: RecordCause[], nameOf: NameOf): string[] {
    return cause.map((link, i) => {
        const where = `rank ${link.rank}, ${nameOf(link.function)}, ${formatTime(link.time_ns)}`;
        const next = cause[i + 1];
        if (!link.waits_for) return `${where}: here the time was spent.`;
        const whom = next ? `, rank ${next.rank}` : "";
        return `${where}: ${waits[link.waits_for] ?? `waited: ${link.waits_for}`}${whom}.`;
    });
}

/* 1 in 180,000; the usual words for what is not rare. */
export function oneIn(p: number): string {
    if (!(p > 0)) return "no normal call";
    if (p < rarest) return "less than 1 in a billion normal calls";
    return p > 0.5 ? "most normal calls" : `about 1 in ${formatCount(1 / p)} normal calls`;
}

/* Of what was judged: the whole time, or what the call spent itself. */
function whatItLost(r: RecordBody, { isAnomaly, isInclusive }: Judged, nameOf: NameOf): string {
    const func = nameOf(r.func);
    const lost = r.outlier_severity * us;
    const { execution } = r;
    if (execution) {
        const usual =
            execution.typical_ns === null
                ? ""
                : `, typical ${formatTime(execution.typical_ns)}`;
        const inside = `${plural(execution.calls, "call")} and ${plural(execution.messages, "message")} inside`;
        return `This ${func} took ${formatTime(r.runtime_total * us)}${usual}, with ${inside}.`;
    }
    const time = (isInclusive ? r.runtime_total : r.runtime_exclusive) * us;
    const took = `${func} ${isInclusive ? "" : "itself "}took ${formatTime(time)}`;
    if (!isAnomaly) return `${took}, which is typical.`;
    /* A record has what was lost, not what is typical: of one that lost nothing that is not known. */
    if (lost <= 0) return `${took}, less than is typical.`;
    return `${took}, typical ${formatTime(time - lost)}: ${formatTime(lost)} were lost.`;
}

export interface Judged {
    isAnomaly: boolean;
    isInclusive: boolean; /* by its whole time; else by its own */
}

export interface Why {
    what: string;
    reason: string | null; /* of an execution */
    more: string[];
    cause: string[]; /* of a chain, the cause last */
}

export function whyOf(r: RecordBody, judged: Judged, nameOf: NameOf): Why {
    const { isAnomaly } = judged;
    const more: string[] = [];
    if (isAnomaly && r.p !== null) more.push(`As strange as this: ${oneIn(Number(r.p))}.`);
    const cost = costWords({
        lost_ns: r.outlier_severity * us,
        cost_ns: r.cost_ns ?? null,
        cost_is_bound: r.cost_is_bound,
    });
    if (isAnomaly && cost) more.push(`It ${cost}.`);
    if (r.is_pruned)
        more.push("The final model, which has seen all calls, takes it for normal.");
    const callers = (r.call_stack ?? []).slice(1).map((c) => nameOf(c.func));
    if (callers.length) more.push(`Called by ${callers.join(", called by ")}.`);
    const started = r.gpu_parent?.call_stack?.[0];
    if (started) more.push(`Runs on a GPU, started by ${nameOf(started.func)}.`);
    const counters = (r.counter_events ?? [])
        .slice(0, mostListed)
        .map((c) => `${c.counter_name} ${formatCount(c.counter_value)}`);
    if (counters.length) more.push(`Counters meanwhile: ${counters.join(", ")}.`);
    const node = (r.node_state?.data ?? []).map((d) => `${d.field} ${formatCount(d.value)}`);
    if (node.length) more.push(`The node then: ${node.join(", ")}.`);
    if (r.hostname) more.push(`On ${r.hostname}.`);
    return {
        what: whatItLost(r, judged, nameOf),
        reason: r.execution?.why ? sentence(r.execution.why) : null,
        more,
        cause: (r.cause?.length ?? 0) > 1 ? chain(r.cause!, nameOf) : [],
    };
}

function sentence(text: string): string {
    return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");
}
