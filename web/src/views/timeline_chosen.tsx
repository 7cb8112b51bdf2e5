// What is chosen in the timeline, in full: a call, a message, a collective, or an area. Nothing is rounded here, and all
// of it can be selected and copied.
import { CallAt, Collective } from "../api/types";
import { formatCount, formatTime } from "../format/units";
import { clearChosen } from "../state/actions";
import { regionName } from "../state/names";
import { revealCall } from "../state/reveal";
import {
    area,
    ChosenMessage,
    chosenCall,
    chosenCollective,
    chosenMessage,
    notice,
    regions,
} from "../state/store";
import { Resource } from "../state/resource";
import { AreaMeasured } from "./timeline_area";
import { CollectiveChosen } from "./timeline_collective";
import { nameOfLocation } from "./timeline_scene";

const noCall = 0xffffffff; /* around an end of a message */

function exactly(ns: number): string {
    return `${formatCount(ns)} ns`;
}

function Close() {
    return (
        <button class="quiet" aria-label="Choose nothing" title="Esc" onClick={clearChosen}>
            ✕
        </button>
    );
}

function go(location: number, call: number): void {
    revealCall({ location, call }).catch((error: Error) => {
        notice.value = { text: `It cannot be shown: ${error.message}.`, isError: true };
    });
}

function Fact({ name, text }: { name: string; text: string }) {
    return (
        <span>
            <span class="dim">{name}</span> {text}
        </span>
    );
}

function Call({ of, location }: { of: CallAt; location: number }) {
    const region = regions.value.get(of.region);
    const path = of.path.map(regionName);
    return (
        <section class="chosen" aria-label="Selected call">
            <p>
                <b>{regionName(of.region)}</b> on {nameOfLocation(location)}
                <Fact name="duration" text={exactly(of.leave_ns - of.enter_ns)} />
                <Fact name="own time" text={exactly(of.exclusive_ns)} />
                <Fact name="begins" text={exactly(of.enter_ns)} />
                <Fact name="ends" text={exactly(of.leave_ns)} />
                <Fact name="calls" text={formatCount(of.n_children)} />
                {of.parent !== null && (
                    <button onClick={() => go(location, of.parent!)}>Its caller</button>
                )}
                <Close />
            </p>
            <p class="dim path">
                {path.slice(0, -1).join(" > ") || "called by nobody"}
                {region && region.name !== region.short_name && (
                    <>
                        ; in full <code>{region.name}</code>
                    </>
                )}
                {region && <> ({region.kind})</>}
            </p>
        </section>
    );
}

function Message({ of }: { of: ChosenMessage }) {
    const end = (name: string, location: number, call: number) => (
        <button disabled={call === noCall} onClick={() => go(location, call)}>
            {name}: {nameOfLocation(location)}
        </button>
    );
    return (
        <section class="chosen" aria-label="Selected message">
            <p>
                <b>Message</b>
                {end("Sender", of.from, of.send_call)}
                {end("Receiver", of.to, of.recv_call)}
                {of.bytes !== undefined && (
                    <>
                        <Fact name="bytes" text={formatCount(of.bytes)} />
                        <Fact name="tag" text={String(of.tag)} />
                    </>
                )}
                <Fact name="sent" text={exactly(of.send_ns)} />
                <Fact name="received" text={exactly(of.recv_ns)} />
                <Fact name="on its way" text={formatTime(of.recv_ns - of.send_ns)} />
                <Close />
            </p>
        </section>
    );
}

export function Chosen(props: { call: CallAt | null; collective: Resource<Collective> }) {
    const { call } = props;
    if (area.value) return <AreaMeasured of={area.value} close={clearChosen} />;
    if (chosenMessage.value) return <Message of={chosenMessage.value} />;
    if (chosenCollective.value)
        return (
            <CollectiveChosen
                of={props.collective}
                go={({ location, call }) => go(location, call)}
            />
        );
    if (chosenCall.value && call)
        return <Call of={call} location={chosenCall.value.location} />;
    return null;
}
