// The size of an element as it is on the screen, for what is drawn to fill it. All of the page grows
// with the size of its font on large screens; what is drawn in units grows with it.
import { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export interface Size {
    width: number; /* in units */
    height: number;
    scale: number; /* pixels of the page per unit */
    ratio: number; /* pixels of the screen per unit */
}

const usualFont = 13; /* px; as in style.css */

function isSame(a: Size, b: Size): boolean {
    return (Object.keys(a) as (keyof Size)[]).every((key) => a[key] === b[key]);
}

export function useSize(element: RefObject<HTMLElement>): Size {
    const [size, setSize] = useState<Size>({ width: 0, height: 0, scale: 1, ratio: 1 });
    useLayoutEffect(() => {
        const measure = () => {
            const box = element.current;
            if (!box) return;
            const scale =
                parseFloat(getComputedStyle(document.documentElement).fontSize) / usualFont;
            const now: Size = {
                width: box.clientWidth / scale,
                height: box.clientHeight / scale,
                scale,
                ratio: (devicePixelRatio || 1) * scale,
            };
            setSize((old) => (isSame(old, now) ? old : now));
        };
        const observer = new ResizeObserver(measure);
        if (element.current) observer.observe(element.current);
        measure();
        return () => observer.disconnect();
    }, []);
    return size;
}
