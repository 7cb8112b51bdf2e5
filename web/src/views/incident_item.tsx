// An incident in the list: what it lost, when, where it goes back to and why. It is open while one of
// its executions is selected, and then has a line for each of them, the head first.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Incident } from "../api/types";
import { shortId } from "../format/ids";
import {
    amountWords,
    causedBy,
    comesBack,
    incidentName,
    incidentReason,
    incidentSize,
} from "../format/incident_words";
import { formatScore, formatTime, plural } from "../format/units";
import { select } from "../state/actions";
import { inTime } from "../state/entries";
import { calm, executions, selected } from "../state/store";
import { LabelButtons } from "./labels";
import { Sentence } from "./name";
import { Recurrence } from "./recurrence";

const mostAtFirst = 12;
const moreAtATime = 100;

function Member({ tree, id, isHead }: { tree: number; id: string; isHead: boolean }) {
    const isSelected = selected.value === tree;
    const all = executions.value;
    const line = useRef<HTMLLIElement>(null);
    useEffect(() => {
        if (isSelected && !isHead) line.current?.scrollIntoView({ block: "nearest" });
    }, [isSelected]);
    const isAnomaly = all?.verdict[tree] === 1;
    return (
        <li
            ref={line}
            class={`member${isAnomaly ? " anomaly" : ""}${isSelected ? " selected" : ""}`}
        >
            <button class="pick-member" aria-pressed={isSelected} onClick={() => select(tree)}>
                <span class="id" title={id}>
                    {shortId(id)}
                </span>
                {isHead && <span class="is-head">head</span>}
                {isAnomaly && <span class="visually-hidden">anomaly</span>}
                {all && (
                    <span
                        class="duration"
                        title={`what it took; score ${formatScore(all.score[tree])}`}
                    >
                        <span class="visually-hidden">took </span>
                        {formatTime(all.duration_ns[tree])}
                    </span>
                )}
            </button>
            <LabelButtons tree={tree} id={shortId(id)} small />
        </li>
    );
}

/* Whether a selected item of the list is folded; selected anew, it is not. */
export function useFold(isSelected: boolean): [boolean, (isFolded: boolean) => void] {
    const [isFolded, setFolded] = useState(false);
    useEffect(() => {
        if (!isSelected) setFolded(false);
    }, [isSelected]);
    return [isFolded, setFolded];
}

/* How many of n lines are shown, that at this index among them, and the line that shows more. */
export function useFirst(n: number, at: number, noun: string) {
    const [most, setMost] = useState(mostAtFirst);
    const shown = Math.max(most, at + 1);
    const rest = n - shown;
    const more = rest > 0 && (
        <li>
            <button onClick={() => setMost(shown + moreAtATime)}>
                {plural(Math.min(moreAtATime, rest), `more ${noun}`)}
            </button>
        </li>
    );
    return { shown, more };
}

/* What the times in the lines below are. A screen reader has it in each line. */
export function MembersHead({ says }: { says: string }) {
    return (
        <li class="members-head dim" aria-hidden="true">
            {says}
        </li>
    );
}

/* Those of an incident of a thousand ranks are not all shown at once. The first of trees stays it. */
export function Members(props: {
    of: Pick<Incident, "members" | "member_trees">;
    trees: number[];
    id: string;
    name: string;
    head?: number;
}) {
    const { of, trees, id, name, head } = props;
    const begin = executions.value?.enter_ns;
    const inOrder = useMemo(() => (begin ? inTime(trees, begin) : trees), [trees, begin]);
    const idOf = useMemo(
        () => new Map(of.member_trees.map((tree, i) => [tree, of.members[i]])),
        [of],
    );
    const at = inOrder.indexOf(selected.value ?? -1);
    const { shown, more } = useFirst(inOrder.length, at, "execution");
    return (
        <ul id={id} class="members" aria-label={`Executions of ${name}`}>
            <MembersHead says="took" />
            {inOrder.slice(0, shown).map((tree) => (
                <Member
                    key={tree}
                    tree={tree}
                    id={idOf.get(tree) ?? ""}
                    isHead={tree === head}
                />
            ))}
            {more}
        </ul>
    );
}

/* When in the run it came, if that was more than once. */
function Turns({ of }: { of: Incident }) {
    const begin = executions.value?.enter_ns;
    if (of.turns < 2 || !begin) return null;
    return <Recurrence begins={of.member_trees.map((tree) => begin[tree])} />;
}

function Facts({ of, isOpen }: { of: Incident; isOpen: boolean }) {
    const amounts = amountWords(of, of.members.length > 1);
    return (
        <>
            <span class="line">
                <span class="place" title="its number, by what it lost">
                    {of.id ?? "–"}
                </span>
                <b title={`${of.head}: the execution it goes back to`}>{shortId(of.head)}</b>
                {causedBy(of) && <span title="where the cause is">{causedBy(of)}</span>}
                <span class="verdict">
                    {of.verdict === "anomaly" ? "▲ anomaly" : calm.value}
                </span>
            </span>
            <span class="what">
                <Sentence of={incidentReason(of)} />
            </span>
            <span class="line">
                {amounts && (
                    <span class="cost" title={amounts.help}>
                        {amounts.words}
                    </span>
                )}
                <span title="when it began">
                    at {formatTime(executions.value?.enter_ns[of.head_tree] ?? of.begin_ns)}
                </span>
            </span>
            {of.members.length > 1 && (
                <span class="line">
                    <span class="place" aria-hidden="true">
                        {isOpen ? "▾" : "▸"}
                    </span>
                    <span>{incidentSize(of)}</span>
                </span>
            )}
            {comesBack(of) && <span class="line">{comesBack(of)}</span>}
            <Turns of={of} />
        </>
    );
}

export function IncidentItem({ of, trees }: { of: Incident; trees: number[] }) {
    const isHead = selected.value === of.head_tree;
    const isSelected = isHead || (selected.value !== null && trees.includes(selected.value));
    const [isFolded, setFolded] = useFold(isSelected);
    const pick = useRef<HTMLButtonElement>(null);
    const hasSeveral = trees.length > 1;
    const isOpen = isSelected && hasSeveral && !isFolded;
    const members = `members-of-${of.head_tree}`;
    useEffect(() => {
        if (!isHead) return;
        pick.current?.parentElement?.scrollIntoView({ block: "nearest" });
        pick.current?.scrollIntoView({ block: "nearest" });
    }, [isHead]);
    return (
        <li class={`candidate incident ${of.verdict}${isSelected ? " selected" : ""}`}>
            <button
                ref={pick}
                class="pick"
                title={of.why}
                aria-pressed={isHead}
                aria-expanded={hasSeveral ? isOpen : undefined}
                aria-controls={isOpen ? members : undefined}
                onClick={() => (isHead ? setFolded(!isFolded) : select(of.head_tree))}
            >
                <Facts of={of} isOpen={isOpen} />
            </button>
            {isOpen ? (
                <Members
                    of={of}
                    trees={trees}
                    id={members}
                    name={incidentName(of)}
                    head={of.head_tree}
                />
            ) : (
                <LabelButtons tree={of.head_tree} id={shortId(of.head)} />
            )}
        </li>
    );
}
