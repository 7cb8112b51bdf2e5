// Who is slow in every execution, who has more to do, and who waits for them: a heat map of rank by
// time, and a table of the ranks.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getJson } from "../api/http";
import { Place, Ranks } from "../api/types";
import { cellAt, heatPixels } from "../canvas/heat";
import { hotColour } from "../format/colour";
import { byInterest, headline, placeWords } from "../format/rank_words";
import { formatTime } from "../format/units";
import { useResource } from "../state/resource";
import { foi, run } from "../state/store";
import { Await, Panel } from "./panel";

const least = 0.02; /* slower than usual by less is not coloured */
const most = 1; /* twice as long: as dark as it gets */

function Picture({ ranks }: { ranks: Ranks }) {
    const { places, history } = ranks;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [at, setAt] = useState<{ row: number; column: number } | null>(null);
    const heat = useMemo(
        () => ({
            rows: places.length,
            width: history.width,
            value: Float64Array.from(history.factor, (x) =>
                x - 1 < least ? 0 : Math.min(x - 1, most),
            ),
        }),
        [ranks],
    );
    useEffect(() => {
        const picture = canvas.current!;
        picture.width = heat.width;
        picture.height = heat.rows;
        const image = new ImageData(heat.width, heat.rows);
        image.data.set(heatPixels(heat, hotColour).rgba);
        picture.getContext("2d")!.putImageData(image, 0, 0);
    }, [heat]);
    const move = (event: PointerEvent) => {
        const frame = canvas.current!.getBoundingClientRect();
        setAt(
            cellAt(
                heat,
                (event.clientX - frame.left) / frame.width,
                (event.clientY - frame.top) / frame.height,
            ),
        );
    };
    const timeOf = (column: number) =>
        formatTime(history.begin_ns - run.value!.begin_ns + column * history.bin_ns);
    const factor = at && history.factor[at.row * heat.width + at.column];
    return (
        <>
            <div class="heat-frame">
                <span class="heat-ranks dim" aria-hidden="true">
                    <span>{places[0].place}</span>
                    {heat.rows > 1 && <span>{places[heat.rows - 1].rank}</span>}
                </span>
                <div class="heat-picture">
                    <canvas
                        ref={canvas}
                        class="heat"
                        role="img"
                        aria-label={`How long own work took on ${heat.rows} ranks over time, against what it usually takes; the table below says who is slow`}
                        onPointerMove={move}
                        onPointerLeave={() => setAt(null)}
                    />
                </div>
            </div>
            <p class="dim">
                {at && factor !== null
                    ? `${places[at.row].place}, ${timeOf(at.column)}: ${factor ? `own work takes ${factor.toFixed(2)} times the usual` : "no execution begins"}`
                    : `${timeOf(0)} to ${timeOf(heat.width)} across; coloured: own work that takes longer than usual`}
            </p>
        </>
    );
}

function Row({ place }: { place: Place }) {
    const all = place.own_ns + place.wait_ns || 1;
    return (
        <tr>
            <th scope="row">{place.place}</th>
            <td class="words">{place.verdict}</td>
            <td>{formatTime(place.own_ns)}</td>
            <td>{(100 * (place.slowdown - 1)).toFixed(1)} %</td>
            <td>{((100 * place.wait_ns) / all).toFixed(1)} %</td>
            <td class="words">{placeWords(place)}</td>
        </tr>
    );
}

function Found({ ranks }: { ranks: Ranks }) {
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Ranks and their peers">
            <p>{headline(ranks.places)}</p>
            <Picture ranks={ranks} />
            <table>
                <thead>
                    <tr>
                        <th scope="col">Place</th>
                        <th scope="col" class="words">
                            Verdict
                        </th>
                        <th scope="col" title="time in its executions, but for waiting">
                            Own work
                        </th>
                        <th scope="col" title="than its peers need for the same">
                            Slower
                        </th>
                        <th scope="col" title="share of its time">
                            Waiting
                        </th>
                        <th scope="col" class="words">
                            Why
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {[...ranks.places]
                        .sort(byInterest)
                        .slice(0, 500)
                        .map((place) => (
                            <Row key={place.place} place={place} />
                        ))}
                </tbody>
            </table>
        </div>
    );
}

export function RanksView() {
    const id = foi.value?.id;
    const ranks = useResource(id === undefined ? null : `ranks ${id}`, (abort) =>
        getJson<Ranks>(`/fois/${id}/ranks`, abort),
    );
    return (
        <Panel name="ranks">
            <Await of={ranks} what="the ranks" empty="There are no executions to compare.">
                {(found) => <Found ranks={found} />}
            </Await>
        </Panel>
    );
}
