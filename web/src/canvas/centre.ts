// A view of the plane as what is in its middle and how many times larger it is drawn: that fits windows
// of any size, which the transform of d3-zoom, in pixels, does not.
import { ZoomTransform } from "d3-zoom";

export interface Centre {
    k: number;
    x: number; /* 0..1, from the left */
    y: number; /* 0..1, from below */
}

/* Where the plane is drawn, in units, and how many pixels these are. */
export interface Plot {
    left: number;
    top: number;
    width: number;
    height: number;
    scale: number;
}

export function centreOfView({ k, x, y }: ZoomTransform, plot: Plot): Centre {
    const middle = (offset: number, shift: number, extent: number) =>
        (offset + extent / 2 - offset * k - shift / plot.scale) / (extent * k);
    return {
        k,
        x: middle(plot.left, x, plot.width),
        y: 1 - middle(plot.top, y, plot.height),
    };
}

export function transformTo({ k, x, y }: Centre, plot: Plot): ZoomTransform {
    const shift = (offset: number, centre: number, extent: number) =>
        (offset + extent / 2 - offset * k - centre * extent * k) * plot.scale;
    return new ZoomTransform(
        k,
        shift(plot.left, x, plot.width),
        shift(plot.top, 1 - y, plot.height),
    );
}
