// The list on the left: incidents by cause, what costs most first, or one by one, groups of anomalies that are strange in the
// same way, or executions, the strangest or those best to label first. 50 are fetched at a time.
import { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { getJson } from "../api/http";
import { Lost } from "../api/types";
import { slowBesideList } from "../format/outcome_words";
import { formatCount, formatTime, plural, sentence } from "../format/units";
import { runKeys } from "../state/keys";
import { Entry } from "../state/entries";
import { isLearningOpen } from "../state/learning";
import { listQuery, listTable, Page, pageSize, showMore } from "../state/list";
import { isNarrowed, withoutFilter } from "../state/filter";
import { useQuery } from "../state/query";
import { showView } from "../state/shown_views";
import { filter, foi, isFew } from "../state/store";
import { CandidateItem } from "./candidate_item";
import { CauseItem } from "./cause_item";
import { Filters } from "./filters";
import { FoldButton } from "./fold";
import { GroupItem } from "./group_item";
import { IncidentItem } from "./incident_item";
import { Sentence } from "./name";
import { Await, Empty } from "./panel";
import { useTable } from "./pictures";
import { useOneStop } from "./use_one_stop";

function NothingStandsOut() {
    if (!foi.value || foi.value.anomalies || isNarrowed(filter.value)) return null;
    return (
        <p class="note">
            {isFew.value ? (
                <>
                    <b>Too few executions</b> to say which are anomalies.
                </>
            ) : (
                <>
                    <b>No anomalies.</b> The list begins with what is nearest to being one,
                    where executions of several ranks count together: each may be by chance, or
                    lost too little to count.
                </>
            )}{" "}
            Label what should not be like that, and retrain.
        </p>
    );
}

/* Who is slow always is in no incident, and may cost the run more than all of these. */
function SlowAlways() {
    const outcome = foi.value?.outcome;
    const words = outcome && slowBesideList(outcome);
    if (!words || isNarrowed(filter.value)) return null;
    return (
        <p class="note">
            <b>{outcome.slow!.says}</b>, {words}.{" "}
            <button onClick={() => showView("ranks")}>Show the ranks</button>
        </p>
    );
}

/* What is typical is the middle of the run: no entry says that it grows. */
function Growth() {
    const growth = foi.value?.outcome.growth;
    if (!growth || isNarrowed(filter.value)) return null;
    return (
        <p class="note">
            <Sentence of={sentence(growth)} />
        </p>
    );
}

function Item({ of }: { of: Entry }) {
    const { cause, incident, group, candidate, trees } = of;
    if (cause && !incident) return <CauseItem of={cause} trees={trees} />;
    if (group) return <GroupItem of={group} />;
    if (incident) return <IncidentItem of={incident} trees={trees} />;
    return candidate ? <CandidateItem of={candidate} /> : null;
}

function NothingLikeThat({ what }: { what: Page["what"] }) {
    return (
        <Empty>
            <p>No {what === "cause" ? "incident" : what} is like that.</p>
            {isNarrowed(filter.value) && (
                <button onClick={() => (filter.value = withoutFilter(filter.value))}>
                    Show all
                </button>
            )}
        </Empty>
    );
}

function Entries({ of, isLoading }: { of: Page; isLoading: boolean }) {
    const { entries: listed, total } = of;
    const list = useRef<HTMLOListElement>(null);
    useOneStop(list);
    return (
        <ol ref={list} id="list">
            {listed.map((entry) => (
                <Item key={entry.group?.id ?? entry.trees[0]} of={entry} />
            ))}
            {listed.length < total && (
                <li class="more">
                    <button disabled={isLoading} onClick={showMore}>
                        {isLoading
                            ? "Loading ..."
                            : `Show ${Math.min(pageSize, total - listed.length)} more`}
                    </button>
                </li>
            )}
        </ol>
    );
}

/* What the list adds up to, with what is too little to be in it: of all executions, whatever the filter is. */
function LostInAll() {
    const about = foi.value ? `/fois/${foi.value.id}/lost` : null;
    const { value } = useQuery(about, (abort) => getJson<Lost>(about!, abort));
    if (!value || value.lost_ns === null) return null;
    return (
        <p class="lost-in-all" title={`${value.text}. Lost: beyond what is typical`}>
            All {plural(foi.value?.trees ?? 0, "execution")} lost{" "}
            <b>{formatTime(value.lost_ns)}</b> of {formatTime(value.duration_ns)}
            {value.unended > 0 &&
                `, without what ${formatCount(value.unended)} lost that ${value.unended > 1 ? "do" : "does"} not end`}
        </p>
    );
}

/* What has no anomaly is nobody's cause. */
function listed({ total, what }: Page): string {
    return what === "cause" ? plural(total, "entry", "entries") : plural(total, what);
}

/* children: what stands behind the list. */
export function Candidates(props: { children?: ComponentChildren }) {
    const page = listQuery.answer.value;
    useTable("list", () => listTable(filter.value));
    return (
        <nav class="candidates" id="candidates" aria-label="Incidents and executions">
            <div class="list-head">
                <h2>Executions {page.value && <small>{listed(page.value)}</small>}</h2>
                <button
                    class="quiet"
                    title={`How scores are learnt and points placed; what the last retrain changed (${runKeys.keyOf("learning")})`}
                    onClick={() => (isLearningOpen.value = true)}
                >
                    Learning
                </button>
                <FoldButton column="list" />
            </div>
            <Filters />
            <SlowAlways />
            <Growth />
            <NothingStandsOut />
            <Await of={page} what="executions" empty="No run.">
                {(list) =>
                    list.entries.length ? (
                        <Entries of={list} isLoading={page.isLoading} />
                    ) : (
                        <NothingLikeThat what={list.what} />
                    )
                }
            </Await>
            <LostInAll />
            {props.children}
        </nav>
    );
}
