// What moves a plane of points: the wheel zooms, dragging pans, and so do keys.
import { select as selectElement } from "d3-selection";
import { zoom, zoomIdentity, ZoomTransform, zoomTransform } from "d3-zoom";
import { useEffect, useRef, useState } from "preact/hooks";
import { Movable, offerMovable } from "../state/movable";
import { Mover } from "./canvas";
import { Size } from "./use_size";

interface OnZoom {
    ended: (to: ZoomTransform) => void;
    isTaken: (event: MouseEvent) => boolean; /* dragging is something else now */
}

export function usePlane(size: Size, on: OnZoom) {
    const [transform, setTransform] = useState<ZoomTransform>(zoomIdentity);
    const canvas = useRef<HTMLCanvasElement | null>(null);
    const now = useRef(on);
    now.current = on;
    const [behaviour] = useState(() =>
        zoom<HTMLCanvasElement, unknown>()
            .scaleExtent([0.5, 20000])
            .filter(
                (event) =>
                    event.type === "wheel" || (!event.button && !now.current.isTaken(event)),
            )
            .on("zoom", (event) => setTransform(event.transform))
            .on("end", (event) => now.current.ended(event.transform)),
    );
    const element = () => selectElement(canvas.current!);
    const moveTo = (to: ZoomTransform) => element().call(behaviour.transform, to);
    const movable = useRef({} as Movable);
    Object.assign(movable.current, {
        zoom: (factor: number) => element().call(behaviour.scaleBy, factor),
        pan: (share: number) =>
            element().call(
                behaviour.translateBy,
                (-share * size.width * size.scale) / zoomTransform(canvas.current!).k,
                0,
            ),
        fit: () => moveTo(zoomIdentity),
    });
    useEffect(() => offerMovable(movable.current), []);
    const mover: Mover = {
        attach: (of) => {
            canvas.current = of;
            element().call(behaviour).on("dblclick.zoom", null);
            return () => element().on(".zoom", null);
        },
    };
    return { transform, moveTo, mover, movable: movable.current, setTransform };
}
