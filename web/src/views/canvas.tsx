// The one canvas of the page: as sharp as the screen, drawn at most once in a frame, with a box around it that has the
// focus. A view gives its scene: what is drawn, what lies under a point, what a click, a drag and keys mean there. What
// zooms and pans it is given to it, too: an axis of time (use_time_axis.ts), or a plane (use_plane.ts).
import { AriaRole, ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Movable, pointAt } from "../state/movable";
import { Size } from "./use_size";

const dragged = 3; /* pixels; less is a click */
const away = 12; /* units of the hover box from the pointer */

/* In units from the upper left corner of the canvas. */
export interface Point {
    x: number;
    y: number;
}

/* What dragging does from where it began. */
export interface Drag {
    to: (at: Point) => void;
    end?: (at: Point) => boolean | void; /* false: it was no more than a click */
}

/* What zooms and pans, by the wheel and by more than that. */
export interface Mover {
    attach: (canvas: HTMLCanvasElement) => () => void;
}

export interface CanvasProps {
    box: RefObject<HTMLDivElement>; /* that the size is of */
    size: Size; /* of what is drawn */
    of: unknown[]; /* it is drawn anew when one of these is another */
    draw: (pen: CanvasRenderingContext2D) => void;
    label: string; /* what it is, for those who cannot see it */
    class: string; /* of the box */
    canvasClass?: string;
    title?: string;
    style?: { width: string; height: string };
    isBusy?: boolean;
    says?: (
        at: Point,
    ) => ComponentChildren; /* of what lies under a point, beside it; null: nothing */
    hover?: (at: Point | null) => void; /* the pointer is there; null: it has left */
    choose?: (at: Point, event: MouseEvent) => void; /* a click */
    open?: (at: Point) => void; /* a double click */
    drag?: (from: Point, event: PointerEvent) => Drag | null;
    mover?: Mover;
    movable?: Movable; /* what keys move once the pointer was here */
    keys?: (
        event: KeyboardEvent,
    ) => (() => void) | undefined; /* with the focus; undefined: it has none */
    role?: AriaRole; /* of the box, with its name: where it has keys */
    name?: string;
    scroll?: number; /* units that the box is scrolled by */
    onScroll?: (units: number) => void;
    under?: ComponentChildren;
    children?: ComponentChildren; /* what lies above */
}

/* Where the pointer is on a canvas. */
export function pointerAt(event: MouseEvent, canvas: HTMLCanvasElement, size: Size): Point {
    const frame = canvas.getBoundingClientRect();
    return {
        x: ((event.clientX - frame.left) / frame.width) * size.width,
        y: ((event.clientY - frame.top) / frame.height) * size.height,
    };
}

/* Makes the canvas as sharp as the screen. */
export function fitCanvas(canvas: HTMLCanvasElement, { width, height, ratio }: Size): void {
    const [w, h] = [width, height].map((units) => Math.max(1, Math.round(units * ratio)));
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
}

/* On the side of the pointer that has room. */
function HoverBox(props: { at: Point; size: Size; children: ComponentChildren }) {
    const { at, size } = props;
    const isRight = at.x > size.width / 2;
    const px = (units: number) => `${units * size.scale}px`;
    return (
        <div
            class="hover"
            style={{
                top: px(at.y + away),
                [isRight ? "right" : "left"]: px((isRight ? size.width - at.x : at.x) + away),
            }}
        >
            {props.children}
        </div>
    );
}

interface Press {
    at: [number, number]; /* on the screen */
    drag: Drag | null;
    isMoved: boolean;
}

export function Canvas(props: CanvasProps) {
    const { box, size, keys } = props;
    const canvas = useRef<HTMLCanvasElement>(null);
    const [pointer, setPointer] = useState<Point | null>(null);
    const press = useRef<Press | null>(null);
    const newest = useRef(props);
    newest.current = props;
    const at = (event: MouseEvent) => pointerAt(event, canvas.current!, size);

    const frame = useRef(0);
    useLayoutEffect(() => {
        if (!size.width || frame.current) return;
        frame.current = requestAnimationFrame(() => {
            frame.current = 0;
            const { size: now, draw } = newest.current;
            fitCanvas(canvas.current!, now);
            const pen = canvas.current!.getContext("2d")!;
            pen.setTransform(now.ratio, 0, 0, now.ratio, 0, 0);
            pen.clearRect(0, 0, now.width, now.height);
            draw(pen);
        });
    }, [...Object.values(size), ...props.of]);
    useEffect(() => () => cancelAnimationFrame(frame.current), []);
    useEffect(() => newest.current.mover?.attach(canvas.current!), []);

    const point = (now: Point | null) => {
        if (props.says) setPointer(now);
        props.hover?.(now);
    };
    const down = (event: PointerEvent) => {
        if (event.button !== 0) return;
        const drag = props.drag?.(at(event), event) ?? null;
        if (drag) canvas.current!.setPointerCapture(event.pointerId);
        press.current = { at: [event.clientX, event.clientY], drag, isMoved: false };
    };
    const move = (event: PointerEvent) => {
        if (props.movable) pointAt(props.movable);
        const now = at(event);
        const pressed = event.buttons ? press.current : null;
        if (pressed) {
            const [x, y] = pressed.at;
            pressed.isMoved ||= Math.hypot(event.clientX - x, event.clientY - y) > dragged;
            if (pressed.isMoved) pressed.drag?.to(now);
        }
        point(now);
    };
    const up = (event: PointerEvent) => {
        const pressed = press.current;
        press.current = null;
        if (!pressed) return;
        const now = at(event);
        point(now);
        const isDragged =
            pressed.isMoved && (!pressed.drag || pressed.drag.end?.(now) !== false);
        if (!isDragged) props.choose?.(now, event);
    };
    const key = (event: KeyboardEvent) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        // A button in the box has keys of its own.
        const isPress = event.key === "Enter" || event.key === " ";
        if (isPress && event.target !== box.current) return;
        const act = keys!(event);
        if (!act) return;
        event.preventDefault();
        act();
    };
    const said = pointer && !press.current?.isMoved ? props.says?.(pointer) : null;
    return (
        <div
            class={props.class}
            ref={box}
            tabIndex={keys ? 0 : undefined}
            role={props.role}
            aria-label={props.name}
            onKeyDown={keys && key}
            onScroll={(event) => props.onScroll?.(event.currentTarget.scrollTop / size.scale)}
        >
            {props.under}
            <canvas
                ref={canvas}
                class={props.canvasClass}
                role="img"
                aria-busy={props.isBusy}
                aria-label={props.label}
                title={props.title}
                style={props.style}
                onPointerDown={down}
                onPointerMove={move}
                onPointerUp={up}
                onPointerCancel={() => (press.current = null)}
                onPointerLeave={() => point(null)}
                onDblClick={(event) => props.open?.(at(event))}
            />
            {props.children}
            {said && (
                <HoverBox
                    at={{ x: pointer!.x, y: pointer!.y + (props.scroll ?? 0) }}
                    size={size}
                >
                    {said}
                </HoverBox>
            )}
        </div>
    );
}
