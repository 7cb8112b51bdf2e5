// What is chosen in the timeline, in full: a call, a message, a collective, or an area. Nothing is rounded here, and all
// of it can be selected and copied.
import { batch } from "@preact/signals";
import { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CallAt, Region } from "../api/types";
import { arrowTitles, delayWords, dependencyWords, endWords } from "../format/arrow_words";
import { formatNumber } from "../format/counter_words";
import { executionId } from "../format/ids";
import { formatCount, formatExactly, formatTime, ifKnown, plural } from "../format/units";
import { clearChosen, select } from "../state/actions";
import { instead } from "../state/acts";
import { goBeside, walkAt } from "../state/call_walk";
import { regionKindName } from "../state/kinds";
import { regionName } from "../state/names";
import { executionAt } from "../state/peers";
import { locationsById } from "../state/places";
import { CallOfLocation, reveal, revealing } from "../state/reveal";
import { callQuery, collectiveQuery } from "../state/selected";
import {
    area,
    ChosenMessage,
    chosenCall,
    chosenCollective,
    chosenMessage,
    details,
    executions,
    regions,
    selected,
} from "../state/store";
import { CallCounters } from "./call_counters";
import { Await } from "./panel";
import { AreaMeasured } from "./timeline_area";
import { Between, MeasureFromButton } from "./timeline_between";
import { CollectiveChosen } from "./timeline_collective";
import { nameOfLocation } from "./timeline_scene";
import { Name, PathNames } from "./name";

const noCall = 0xffffffff; /* around an end of a message */

function Close() {
    return (
        <button class="quiet" aria-label="Choose nothing" title="Esc" onClick={clearChosen}>
            ✕
        </button>
    );
}

function go(location: number, call: number): void {
    instead(revealing({ location, call }));
}

function Fact({ name, text }: { name: string; text: ComponentChildren }) {
    return (
        <span>
            <span class="dim">{name}</span> {text}
        </span>
    );
}

/* What it was told to send and receive. */
function Traffic({ of }: { of: CallAt }) {
    const { messages, n_messages, collective } = of;
    const more = n_messages - messages.length;
    return (
        <>
            {messages.map((m) => (
                <Fact
                    name={m.is_send ? "sends" : "receives"}
                    text={`${formatCount(m.bytes)} bytes ${m.is_send ? "to" : "from"} rank ${m.peer}, tag ${m.tag}`}
                />
            ))}
            {more > 0 && <span class="dim">and {plural(more, "more message")}</span>}
            {collective && (
                <Fact
                    name="together"
                    text={
                        `${formatCount(collective.sent_bytes)} bytes sent, ${formatCount(collective.received_bytes)} received` +
                        (collective.root === null ? "" : `, root rank ${collective.root}`)
                    }
                />
            )}
        </>
    );
}

/* What launched it, what it launched, and what had to wait for what. */
function Dependencies({ of }: { of: CallAt }) {
    const more = of.n_dependencies - of.dependencies.length;
    return (
        <p aria-label="Launches" role="group">
            {of.dependencies.map((d) => (
                <span>
                    <span class="dim">{dependencyWords(d.kind, d.is_from)}</span>{" "}
                    <button onClick={() => go(d.location, d.call)}>
                        <Name of={regionName(d.region)} /> on {nameOfLocation(d.location)}
                    </button>{" "}
                    <Fact
                        name={d.kind === "launch" ? "delay" : "between"}
                        text={formatExactly(d.delay_ns)}
                    />
                </span>
            ))}
            {more > 0 && <span class="dim">and {formatCount(more)} more</span>}
        </p>
    );
}

/* What it was called with. */
function Arguments({ of }: { of: CallAt }) {
    const more = of.n_arguments - of.arguments.length;
    return (
        <p class="arguments" aria-label="Arguments" role="group">
            {of.arguments.map(({ name, value }) => (
                <Fact
                    name={name}
                    text={ifKnown(value, (x) =>
                        typeof x === "number" ? formatNumber(x) : String(x),
                    )}
                />
            ))}
            {more > 0 && <span class="dim">and {plural(more, "more argument")}</span>}
        </p>
    );
}

/* Its kind, where it stands, and its whole name. */
function Source({ of }: { of: Region }) {
    return (
        <>
            <Fact name="kind" text={regionKindName(of.id)} />
            {of.file && (
                <Fact name="source" text={of.line ? `${of.file}:${of.line}` : of.file} />
            )}
            {of.name !== of.short_name && (
                <span>
                    <span class="dim">in full</span>{" "}
                    <code>
                        <bdi>{of.name}</bdi>
                    </code>
                </span>
            )}
        </>
    );
}

/* What stands above is of the execution that is selected: a call may be in another one. */
function OtherExecution({ of, at }: { of: CallAt; at: CallOfLocation }) {
    const [more, all] = [details.value, executions.value];
    const place = locationsById.value.get(at.location);
    const tree = useMemo(
        () => (more && all && place ? executionAt(more, all, place, of) : null),
        [more, all, place, of],
    );
    if (tree === null || tree === selected.value || !more) return null;
    const id = executionId(more.rank[tree], more.thread[tree], more.index[tree]);
    const choose = () =>
        batch(() => {
            select(tree);
            reveal(at, of.enter_ns, of.leave_ns);
        });
    return (
        <p class="elsewhere">
            This call is in another execution than the one above:{" "}
            <button title="Select it" onClick={choose}>
                {id}
            </button>
        </p>
    );
}

/* To the calls of the same function that took longer and shorter, of the run or of the area it was found in. */
function Beside({ of, at }: { of: CallAt; at: CallOfLocation }) {
    const walk = walkAt(at);
    const name = regionName(of.region);
    return (
        <span class="beside-calls">
            {walk && (
                <span role="status">
                    {formatCount(walk.hit.place)} of {formatCount(walk.hit.total)} by length
                    {walk.within && " in the area"}
                </span>
            )}
            <button
                title={`Next longer call of ${name} (,)`}
                onClick={() => goBeside("previous")}
            >
                Longer
            </button>
            <button title={`Next shorter call of ${name} (.)`} onClick={() => goBeside("next")}>
                Shorter
            </button>
        </span>
    );
}

function Call({ of, location }: { of: CallAt; location: number }) {
    const region = regions.value.get(of.region);
    const path = of.path.map(regionName);
    return (
        <section class="chosen" aria-label="Selected call">
            <p>
                <b>
                    <Name of={regionName(of.region)} />
                </b>{" "}
                on {nameOfLocation(location)}
                <Fact name="duration" text={formatExactly(of.leave_ns - of.enter_ns)} />
                <Fact name="own time" text={formatExactly(of.exclusive_ns)} />
                <Fact name="begins" text={formatExactly(of.enter_ns)} />
                <Fact name="ends" text={formatExactly(of.leave_ns)} />
                <Fact name="calls" text={formatCount(of.n_children)} />
                {of.parent !== null && (
                    <button onClick={() => go(location, of.parent!)}>Its caller</button>
                )}
                <Beside of={of} at={chosenCall.value!} />
                <MeasureFromButton />
                <Close />
            </p>
            <OtherExecution of={of} at={{ location, call: chosenCall.value!.call }} />
            <p>
                <Fact
                    name="called by"
                    text={path.length > 1 ? <PathNames of={path.slice(0, -1)} /> : "nobody"}
                />
                {region && <Source of={region} />}
                <Traffic of={of} />
            </p>
            {of.dependencies.length > 0 && <Dependencies of={of} />}
            {of.arguments.length > 0 && <Arguments of={of} />}
            {of.counters.length > 0 && <CallCounters of={of} />}
        </section>
    );
}

function Arrow({ of }: { of: ChosenMessage }) {
    const { kind } = of;
    const [from, to] = endWords[kind];
    const isMessage = kind === "message";
    const end = (name: string, location: number, call: number) => (
        <button disabled={call === noCall} onClick={() => go(location, call)}>
            {name}: {nameOfLocation(location)}
        </button>
    );
    return (
        <section class="chosen" aria-label={`Selected ${kind}`}>
            <p>
                <b>{arrowTitles[kind]}</b>
                {end(from, of.from, of.send_call)}
                {end(to, of.to, of.recv_call)}
                {of.bytes !== undefined && (
                    <>
                        <Fact name="bytes" text={formatCount(of.bytes)} />
                        <Fact name="tag" text={String(of.tag)} />
                    </>
                )}
                <Fact name={isMessage ? "sent" : "from"} text={formatExactly(of.send_ns)} />
                <Fact name={isMessage ? "received" : "to"} text={formatExactly(of.recv_ns)} />
                <Fact name={delayWords[kind]} text={formatTime(of.recv_ns - of.send_ns)} />
                <Close />
            </p>
        </section>
    );
}

export function Chosen() {
    return (
        <>
            <Between />
            <ChosenOne />
        </>
    );
}

function ChosenOne() {
    const of = chosenCall.value;
    if (area.value) return <AreaMeasured of={area.value} close={clearChosen} />;
    if (chosenMessage.value) return <Arrow of={chosenMessage.value} />;
    if (chosenCollective.value)
        return (
            <CollectiveChosen
                of={collectiveQuery.answer.value}
                go={({ location, call }) => go(location, call)}
            />
        );
    if (!of) return null;
    const call = callQuery.answer.value;
    if (call.value) return <Call of={call.value} location={of.location} />;
    return (
        <section class="chosen" aria-label="Selected call">
            <Await of={call} what="the call" empty="">
                {() => null}
            </Await>
        </section>
    );
}
