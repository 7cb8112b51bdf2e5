// A collective that is chosen in the timeline: who took part, who came last, who waited how long for that.
import { Collective } from "../api/types";
import { formatCount, formatTime, plural } from "../format/units";
import { clearChosen } from "../state/actions";
import { regionName } from "../state/names";
import { CallOfLocation } from "../state/reveal";
import { Answer } from "../state/query";
import { Await } from "./panel";
import { nameOfLocation } from "./timeline_scene";
import { Name } from "./name";

/* "8 members", or of how many the trace knows. */
function membersOf({ members, known }: Collective): string {
    if (!members || members === known) return plural(known, "member");
    return `${formatCount(known)} of ${plural(members, "member")} in the trace`;
}

function Waits({ of, go }: { of: Collective; go: (call: CallOfLocation) => void }) {
    const waits = of.parts.filter((part) => part.wait_ns > 0);
    if (!waits.length) return <p class="dim">Nobody waited in it.</p>;
    const others = of.known - waits.length;
    return (
        <p>
            <span class="dim">waited longest</span>
            {waits.map((part) => (
                <button key={part.location} onClick={() => go(part)}>
                    {nameOfLocation(part.location)}: {formatTime(part.wait_ns)}
                </button>
            ))}
            {others > 1 && <span class="dim">and others; {formatTime(of.wait_ns)} in all</span>}
        </p>
    );
}

export function CollectiveChosen(props: {
    of: Answer<Collective>;
    go: (call: CallOfLocation) => void;
}) {
    return (
        <section class="chosen" aria-label="Selected collective">
            <Await of={props.of} what="the collective" empty="This call takes part in none.">
                {(it) => (
                    <>
                        <p>
                            <b>
                                <Name of={regionName(it.region)} />
                            </b>
                            <span>
                                {it.kind} on {it.comm || "a communicator without a name"}
                            </span>
                            <span>{membersOf(it)}</span>
                            <button
                                onClick={() =>
                                    props.go({ location: it.last_location, call: it.last_call })
                                }
                            >
                                {it.kind === "one to all" ? "Root" : "Last to arrive"}:{" "}
                                {nameOfLocation(it.last_location)}
                            </button>
                            <span>
                                <span class="dim">at</span> {formatCount(it.last_ns)} ns
                            </span>
                            <span>
                                <span class="dim">sent</span> {formatCount(it.sent_bytes)} bytes
                            </span>
                            <span>
                                <span class="dim">received</span>{" "}
                                {formatCount(it.received_bytes)} bytes
                            </span>
                            <button
                                class="quiet"
                                aria-label="Choose nothing"
                                title="Esc"
                                onClick={clearChosen}
                            >
                                ✕
                            </button>
                        </p>
                        <Waits of={it} go={props.go} />
                    </>
                )}
            </Await>
        </section>
    );
}
