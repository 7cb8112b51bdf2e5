// The size of an element as it is on the screen, for canvases that fill it.
import { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface Size {
    width: number;
    height: number;
    ratio: number; /* device pixels per pixel */
}

export function useSize(element: RefObject<HTMLElement>): Size {
    const [size, setSize] = useState<Size>({ width: 0, height: 0, ratio: 1 });
    useEffect(() => {
        const measure = () => {
            const box = element.current;
            if (box) setSize({ width: box.clientWidth, height: box.clientHeight, ratio: devicePixelRatio || 1 });
        };
        const observer = new ResizeObserver(measure);
        if (element.current) observer.observe(element.current);
        measure();
        return () => observer.disconnect();
    }, []);
    return size;
}

/* Makes the canvas as sharp as the screen. */
export function fitCanvas(canvas: HTMLCanvasElement, { width, height, ratio }: Size): void {
    const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
}

export function cssColour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
