// The entries of the list on the left: an execution each, an incident with its executions, or the incidents of one cause.
import { Candidate, Group, Incident, IncidentGroup } from "../api/types";
import { Table } from "../format/csv";

export interface Entry {
    trees: number[]; /* its executions; the first is what choosing it selects */
    candidate?: Candidate;
    incident?: Incident;
    group?: Group;
    cause?: IncidentGroup;
}

export function entryOfCandidate(candidate: Candidate): Entry {
    return { trees: [candidate.tree], candidate };
}

export function entryOfIncident(incident: Incident): Entry {
    const others = incident.member_trees.filter((tree) => tree !== incident.head_tree);
    return { trees: [incident.head_tree, ...others], incident };
}

/* Of one incident it is that. */
export function entryOfCause(cause: IncidentGroup): Entry {
    const { first, member_trees, incidents } = cause;
    const others = member_trees.filter((tree) => tree !== first.head_tree);
    return {
        trees: [first.head_tree, ...others],
        cause,
        incident: incidents.length === 1 ? first : undefined,
    };
}

export function entryOfGroup(group: Group): Entry {
    return { trees: group.member_trees, group };
}

/* The head stays first, the others follow in the order in which they began. */
export function inTime([head, ...others]: number[], begin: ArrayLike<number>): number[] {
    return [head, ...others.sort((a, b) => begin[a] - begin[b])];
}

/* Where in the list an execution is; -1: nowhere. */
export function entryOf(entries: Entry[], tree: number | null): number {
    return tree === null ? -1 : entries.findIndex(({ trees }) => trees.includes(tree));
}

/* What to select for the next entry, or the one before; null where there is none. */
export function treeBeside(entries: Entry[], tree: number | null, by: 1 | -1): number | null {
    const at = entryOf(entries, tree);
    return entries[at < 0 ? 0 : at + by]?.trees[0] ?? null;
}

function incidentTable(list: Incident[]): Table {
    return {
        head: "incident,verdict,score,begin_ns,end_ns,lost_ns,cost_ns,head,rank,executions,ranks,why".split(
            ",",
        ),
        rows: list.map((x) => [
            x.id,
            x.verdict,
            x.score,
            x.begin_ns,
            x.end_ns,
            x.lost_ns,
            x.cost_ns,
            x.head,
            x.rank,
            x.members.length,
            x.ranks.length,
            x.why,
        ]),
    };
}

function candidateTable(list: Candidate[]): Table {
    return {
        head: "place,execution,verdict,label,score,enter_ns,duration_ns,usual_ns,lost_ns,cost_ns,calls,messages,why,asked_as,kind,moves".split(
            ",",
        ),
        rows: list.map((x) => [
            x.rank_now,
            x.id,
            x.verdict,
            x.label,
            x.score,
            x.enter_ns,
            x.duration_ns,
            x.usual_ns,
            x.lost_ns,
            x.cost_ns,
            x.vertices,
            x.messages,
            x.why,
            x.question?.asked_as ?? null,
            x.question?.kind ?? null,
            x.question?.moves ?? null,
        ]),
    };
}

function groupTable(list: Group[]): Table {
    return {
        head: "group,executions,lost_ns,begin_ns,ranks,abnormal,normal,text".split(","),
        rows: list.map((x) => [
            x.id,
            x.members.length,
            x.lost_ns,
            x.begin_ns,
            x.ranks.length,
            x.abnormal,
            x.normal,
            x.text,
        ]),
    };
}

function causeTable(list: IncidentGroup[]): Table {
    return {
        head: "group,verdict,incidents,times,executions,lost_ns,cost_ns,cost_unknown,first_ns,last_ns,text".split(
            ",",
        ),
        rows: list.map((x) => [
            x.group,
            x.verdict,
            x.incidents.length,
            x.times,
            x.member_trees.length,
            x.lost_ns,
            x.cost_ns,
            x.cost_unknown,
            Math.min(...x.begins_ns),
            Math.max(...x.begins_ns),
            x.text,
        ]),
    };
}

/* A list is all of one kind. */
export function tableOfEntries(entries: Entry[]): Table {
    const causes = entries.flatMap(({ cause }) => cause ?? []);
    if (causes.length) return causeTable(causes);
    const incidents = entries.flatMap(({ incident }) => incident ?? []);
    const groups = entries.flatMap(({ group }) => group ?? []);
    if (groups.length) return groupTable(groups);
    return incidents.length
        ? incidentTable(incidents)
        : candidateTable(entries.flatMap(({ candidate }) => candidate ?? []));
}
