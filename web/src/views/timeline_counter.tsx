// A counter in the timeline: which one, what of it is drawn, what its strips say.
import { counterScale, CounterTrack } from "../canvas/counter_draw";
import { CounterDrawn } from "../canvas/timeline_draw";
import { Span } from "../canvas/window";
import { getBundle } from "../api/http";
import { pieceWords, rangeWords, shortName, shortNumber } from "../format/counter_track_words";
import { formatTime, plural } from "../format/units";
import { runKeys } from "../state/keys";
import { Answer, useQuery } from "../state/query";
import { counterAs, counters, counterShown } from "../state/store";
import { AskedWindow } from "../state/window_data";
import { Choice } from "./live_panel";
import { nameOfLocation } from "./timeline_scene";

async function loadTrack(
    id: number,
    as: (typeof counterAs)["value"],
    of: AskedWindow,
    abort: AbortSignal,
): Promise<CounterTrack> {
    const [begin, end] = [Math.floor(of.span[0]), Math.ceil(of.span[1])];
    const query = `begin=${begin}&end=${end}&locations=${of.locations.join()}&width=${of.width}${as === "meant" ? "" : `&as=${as}`}`;
    const { header, columns } = await getBundle(`/counters/${id}?${query}`, abort);
    const said = header.counter as { name: string; unit: string; shows: string };
    return {
        ...columns,
        name: said.name,
        unit: said.unit,
        isRate: said.shows === "rate",
        begin_ns: begin,
        end_ns: end,
        width: of.width,
        isEstimate: header.is_estimate === true,
        fell: Number(header.n_fell ?? 0),
        n: columns.location.length,
    } as unknown as CounterTrack;
}

/* Of the counter that is chosen, over what the timeline has asked for. */
export function useCounter(of: AskedWindow | null): Answer<CounterTrack> {
    const chosen = counters.value.find(({ name }) => name === counterShown.value);
    return useQuery(
        chosen && of ? `${chosen.id} ${counterAs.value}` : null,
        (abort) => loadTrack(chosen!.id, counterAs.value, of!, abort),
        of?.key,
    );
}

/* With the scale of what is in the window; null: nothing was read then. */
export function drawnOf(track: CounterTrack | null, window: Span): CounterDrawn | null {
    const scale = track && counterScale(track, window);
    if (!scale) return null;
    return { track, scale, edges: [shortNumber(scale.high), shortNumber(scale.low)] };
}

/* Which one, and by what it is told. */
export function CounterChoice() {
    if (!counters.value.length) return null;
    const chosen = counters.value.find(({ name }) => name === counterShown.value);
    const meant = chosen?.shows === "rate" ? "per second" : "its value";
    return (
        <>
            <label>
                <span class="visually-hidden">Counter below the lanes</span>
                <select
                    value={counterShown.value}
                    class="counter-choice"
                    title={`A counter over time, below the lanes (${runKeys.keyOf("counter")}: the next one)`}
                    onChange={(e) => (counterShown.value = e.currentTarget.value)}
                >
                    <option value="">no counter</option>
                    {counters.value.map(({ id, name }) => (
                        <option key={id} value={name} title={name}>
                            {shortName(name)}
                        </option>
                    ))}
                </select>
            </label>
            {chosen && (
                <label>
                    <span class="visually-hidden">Counter told by</span>
                    <Choice
                        value={counterAs.value}
                        class="counter-choice"
                        title="What of it is shown; as meant: as the trace says"
                        options={[
                            ["meant", `as meant: ${meant}`],
                            ["rate", "its rate, per second"],
                            ["value", "its value"],
                        ]}
                        choose={(as) => (counterAs.value = as)}
                    />
                </label>
            )}
        </>
    );
}

/* Below the timeline: what the strips are. */
export function CounterLegend(props: {
    track: Answer<CounterTrack>;
    drawn: CounterDrawn | null;
}) {
    const { track, drawn } = props;
    if (!counterShown.value) return null;
    const isKnown = counters.value.some(({ name }) => name === counterShown.value);
    return (
        <p class="legend counter-legend" role="status" aria-label="Counter">
            {!isKnown ? (
                `The trace has no counter ${counterShown.value}.`
            ) : track.error ? (
                `The counter cannot be shown: ${track.error}.`
            ) : !track.value || track.isLoading ? (
                "The counter is on its way."
            ) : !drawn ? (
                `${track.value.name} was not read on these lanes at this time.`
            ) : (
                <>
                    <b>{drawn.track.name}</b> {rangeWords(drawn)}: the line is the mean of a
                    pixel, the band from the least to the greatest
                    {drawn.track.isRate
                        ? "; how fast it grew, between two readings"
                        : "; a reading holds until the next"}
                    {drawn.track.fell > 0 &&
                        `; it fell ${plural(drawn.track.fell, "time")}, where nothing is known: its values may say more`}
                    {drawn.track.isEstimate && "; of very many readings some were looked at"}
                </>
            )}
        </p>
    );
}

/* What is under the pointer. */
export function CounterWords(props: { of: CounterTrack; location: number; piece: number }) {
    const { of, piece: i } = props;
    const step = (of.end_ns - of.begin_ns) / of.width;
    return (
        <>
            <b>{of.name}</b> {pieceWords(of, of.least[i], of.greatest[i], of.mean[i])}
            <br />
            {nameOfLocation(props.location)}, at {formatTime(of.begin_ns + of.first[i] * step)}
        </>
    );
}
