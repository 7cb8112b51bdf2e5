// Incidents that have the same cause, as one entry of the list: what it is, how often and where, what they cost together,
// and when in the run they were. Open, it has a line for each of them, and that one for each of its executions.
import { useEffect, useRef, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { Incident, IncidentGroup, IncidentPage } from "../api/types";
import { shortId } from "../format/ids";
import {
    amountWords,
    incidentName,
    incidentSize,
    isCost,
    shortAmount,
} from "../format/incident_words";
import { formatTime, plural } from "../format/units";
import { select } from "../state/actions";
import { entryOfIncident } from "../state/entries";
import { groupQuery } from "../state/filter";
import {
    calm,
    details,
    executions,
    filter,
    foi,
    scoresVersion,
    selected,
} from "../state/store";
import { useQuery } from "../state/query";
import { Members, MembersHead, useFirst, useFold } from "./incident_item";
import { LabelButtons } from "./labels";
import { Sentence } from "./name";
import { Failed } from "./panel";
import { Recurrence } from "./recurrence";

const mostAsked = 1000; /* that the server gives at once */

/* One of them: its head, when it was, what it cost. It opens to its executions. */
function OneOfThem({ of }: { of: Incident }) {
    const { trees } = entryOfIncident(of);
    const isHead = selected.value === of.head_tree;
    const isWithin = !isHead && selected.value !== null && trees.includes(selected.value);
    const [isUnfolded, setUnfolded] = useState(false);
    const isOpen = trees.length > 1 && (isUnfolded || isWithin);
    const amounts = amountWords(of);
    const members = `members-of-${of.head_tree}`;
    const line = useRef<HTMLLIElement>(null);
    useEffect(() => {
        if (isHead) line.current?.scrollIntoView({ block: "nearest" });
    }, [isHead]);
    const choose = () => {
        if (isHead || isWithin) setUnfolded(!isOpen);
        if (!isHead) select(of.head_tree);
    };
    return (
        <li ref={line} class={`member one-incident ${of.verdict}${isHead ? " selected" : ""}`}>
            <button
                class="pick-member"
                aria-pressed={isHead}
                aria-expanded={trees.length > 1 ? isOpen : undefined}
                aria-controls={isOpen ? members : undefined}
                title={`${incidentSize(of)}${amounts ? `, ${amounts.words}` : ""}; ${of.why}`}
                onClick={choose}
            >
                <span class="place" aria-hidden="true">
                    {trees.length > 1 && (isOpen ? "▾" : "▸")}
                </span>
                <span class="id">{shortId(of.head)}</span>
                <span class="dim">
                    at {formatTime(executions.value?.enter_ns[of.head_tree] ?? of.begin_ns)}
                </span>
                <span class="duration">
                    {isCost(of) && <span class="visually-hidden">cost: </span>}
                    {shortAmount(of)}
                </span>
            </button>
            <LabelButtons tree={of.head_tree} id={shortId(of.head)} small />
            {isOpen && (
                <Members
                    of={of}
                    trees={trees}
                    id={members}
                    name={incidentName(of)}
                    head={of.head_tree}
                />
            )}
        </li>
    );
}

function Incidents({ of, id }: { of: IncidentGroup; id: string }) {
    const path = groupQuery(filter.value, of.group ?? 0, of.verdict, mostAsked);
    const about = `/fois/${foi.value?.id}/${path}`;
    const page = useQuery(
        about,
        (abort) => getJson<IncidentPage>(about, abort),
        scoresVersion.value,
    );
    // Until they are there, the one that is known already.
    const { items, total } = page.value ?? { items: [of.first], total: of.incidents.length };
    const at = items.findIndex(({ member_trees }) =>
        member_trees.includes(selected.value ?? -1),
    );
    const { shown, more } = useFirst(items.length, at, "incident");
    return (
        <>
            {page.error !== null && <Failed text={page.error} retry={page.retry} />}
            <ul
                id={id}
                class="members"
                aria-label={`Incidents: ${of.what}`}
                aria-busy={page.isLoading}
            >
                <MembersHead says={items.some(isCost) ? "cost" : "lost"} />
                {items.slice(0, shown).map((incident) => (
                    <OneOfThem key={incident.head_tree} of={incident} />
                ))}
                {more}
                {page.value && !more && total > items.length && (
                    <li class="dim">
                        and {plural(total - items.length, "more incident")}: choose the order
                        Incidents
                    </li>
                )}
            </ul>
        </>
    );
}

/* "56 executions on 8 ranks", as of an incident: heads, of which it is said where they are, and those that waited. */
function allOf(trees: number[], ranksOfHeads: number): string {
    const ranks = details.value?.rank;
    const n = ranks ? new Set(trees.map((tree) => ranks[tree])).size : ranksOfHeads;
    return `${plural(trees.length, "execution")} on ${plural(n, "rank")} in all`;
}

export function CauseItem({ of, trees }: { of: IncidentGroup; trees: number[] }) {
    const isSelected = selected.value !== null && trees.includes(selected.value);
    const [isFolded, setFolded] = useFold(isSelected);
    const pick = useRef<HTMLButtonElement>(null);
    const isOpen = isSelected && !isFolded;
    const amounts = amountWords(of);
    const incidents = `incidents-of-${of.verdict}-${of.group}`;
    useEffect(() => {
        if (isSelected && selected.value === of.first.head_tree)
            pick.current?.scrollIntoView({ block: "nearest" });
    }, [isSelected]);
    return (
        <li class={`candidate incident by-cause ${of.verdict}${isSelected ? " selected" : ""}`}>
            <button
                ref={pick}
                class="pick"
                aria-pressed={isSelected}
                aria-expanded={isOpen}
                aria-controls={isOpen ? incidents : undefined}
                onClick={() => (isSelected ? setFolded(!isFolded) : select(trees[0]))}
            >
                <span class="line">
                    <span class="place" aria-hidden="true">
                        {isOpen ? "▾" : "▸"}
                    </span>
                    <span>
                        {plural(of.incidents.length, "incident")}
                        {of.times > of.incidents.length && `, ${plural(of.times, "time")}`}
                    </span>
                    <span class="verdict">
                        {of.verdict === "anomaly" ? "▲ anomalies" : calm.value}
                    </span>
                </span>
                <span class="what">
                    <Sentence of={of.what} />
                </span>
                <span class="where">{of.where}</span>
                <span class="where">{allOf(trees, of.ranks.length)}</span>
                {amounts && (
                    <span class="where cost" title={amounts.help}>
                        {amounts.words}
                    </span>
                )}
                <Recurrence begins={of.begins_ns} />
            </button>
            {isOpen && <Incidents of={of} id={incidents} />}
        </li>
    );
}
