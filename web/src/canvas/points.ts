// Draws a million points, with WebGL2 where there is a graphics unit (or its emulation), else with
// a plain canvas. Why not regl-scatterplot: see web/README.md (regl makes its code with
// `Function`, which the content security policy of this page forbids).

export interface View {
    /* pixels = 0..1 * scale + offset, y downwards */
    scaleX: number;
    scaleY: number;
    x: number;
    y: number;
}

export interface Points {
    x: Float32Array;
    y: Float32Array;
    rgba: Uint8Array; /* 4 bytes per tree */
    order: Uint32Array;
    firstKept: number; /* from here on: larger, with an outline */
}

export interface PointScene {
    view: View;
    width: number;
    height: number;
    ratio: number; /* pixels of the screen per unit */
    outline: [number, number, number]; /* of those that stay */
}

export interface Painter {
    set(points: Points): void;
    /* Those from..to of the order, which are normal ones; with the first, all that stay, above them. */
    draw(scene: PointScene, from: number, to: number): void;
    release(): void;
}

const vertexSource = `#version 300 es
in float x;
in float y;
in vec4 rgba;
uniform vec4 view;
uniform vec2 size;
uniform float diameter;
uniform float depth;
out vec4 colour;
void main() {
    vec2 pixel = vec2(x * view.x + view.z, (1.0 - y) * view.y + view.w);
    gl_Position = vec4(pixel.x / size.x * 2.0 - 1.0, 1.0 - pixel.y / size.y * 2.0, depth, 1.0);
    gl_PointSize = diameter;
    colour = rgba;
}`;

const fragmentSource = `#version 300 es
precision highp float;
in vec4 colour;
uniform float diameter;
uniform vec4 outline;
uniform float rim;
out vec4 result;
void main() {
    float d = length(gl_PointCoord - 0.5) * diameter;
    float edge = diameter * 0.5;
    if (d > edge) discard;
    bool isOutline = outline.a > 0.0 && d > edge - rim;
    result = isOutline ? outline : colour;
    result.rgb *= result.a;
}`;

const uniforms = ["view", "size", "diameter", "depth", "outline", "rim"] as const;

function compile(gl: WebGL2RenderingContext): WebGLProgram {
    const program = gl.createProgram();
    for (const [kind, source] of [
        [gl.VERTEX_SHADER, vertexSource],
        [gl.FRAGMENT_SHADER, fragmentSource],
    ] as const) {
        const shader = gl.createShader(kind)!;
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
        throw new Error(gl.getProgramInfoLog(program) ?? "the shaders do not link");
    return program;
}

/* Fewer points are drawn larger. Those that stay are always larger than the others, but where
   there are thousands of them they must not become one black mass of outlines. */
export function diameters(
    { order, firstKept }: Points,
    ratio: number,
): { plain: number; kept: number; outline: number } {
    const n = order.length;
    const nKept = n - firstKept;
    const plain = n > 200000 ? 1.5 : n > 20000 ? 2.5 : n > 2000 ? 4 : 6;
    const kept = nKept > 2000 ? plain + 3 : nKept > 300 ? plain + 4 : Math.max(8, plain + 3);
    const outline = nKept > 2000 ? 0.75 : nKept > 300 ? 1.1 : 1.6;
    return { plain: plain * ratio, kept: kept * ratio, outline: outline * ratio };
}

class WebglPainter implements Painter {
    private readonly program: WebGLProgram;
    private readonly buffers: WebGLBuffer[];
    private readonly elements: WebGLBuffer;
    private readonly at: Record<(typeof uniforms)[number], WebGLUniformLocation | null>;
    private points: Points | null = null;

    constructor(private readonly gl: WebGL2RenderingContext) {
        this.program = compile(gl);
        this.buffers = [0, 1, 2].map(() => gl.createBuffer()!);
        this.elements = gl.createBuffer()!;
        this.at = Object.fromEntries(
            uniforms.map((name) => [name, gl.getUniformLocation(this.program, name)]),
        ) as typeof this.at;
        gl.useProgram(this.program);
        gl.enable(gl.BLEND);
        gl.enable(gl.DEPTH_TEST);
        gl.depthFunc(gl.LEQUAL);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    }

    set(points: Points): void {
        const { gl } = this;
        const old = this.points;
        this.points = points;
        const upload = (
            i: number,
            name: string,
            data: Float32Array | Uint8Array,
            isOld: boolean,
        ) => {
            gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
            if (!isOld) gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
            const at = gl.getAttribLocation(this.program, name);
            gl.enableVertexAttribArray(at);
            if (data instanceof Uint8Array)
                gl.vertexAttribPointer(at, 4, gl.UNSIGNED_BYTE, true, 0, 0);
            else gl.vertexAttribPointer(at, 1, gl.FLOAT, false, 0, 0);
        };
        upload(0, "x", points.x, old?.x === points.x);
        upload(1, "y", points.y, old?.y === points.y);
        upload(2, "rgba", points.rgba, old?.rgba === points.rgba);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.elements);
        if (old?.order !== points.order)
            gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, points.order, gl.DYNAMIC_DRAW);
    }

    draw({ view, width, height, ratio, outline }: PointScene, from: number, to: number): void {
        const { gl, points, at } = this;
        gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
        gl.depthMask(true);
        if (!from) {
            gl.clearColor(0, 0, 0, 0);
            gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        }
        if (!points) return;
        gl.uniform4f(at.view, view.scaleX, view.scaleY, view.x, view.y);
        gl.uniform2f(at.size, width, height);
        const size = diameters(points, ratio);
        // What stays is nearer: it need not be drawn again over each piece of the others.
        if (!from) {
            gl.uniform1f(at.depth, -0.5);
            gl.uniform1f(at.diameter, size.kept);
            gl.uniform1f(at.rim, Math.max(1, size.outline));
            gl.uniform4f(at.outline, outline[0] / 255, outline[1] / 255, outline[2] / 255, 1);
            const kept = points.order.length - points.firstKept;
            gl.drawElements(gl.POINTS, kept, gl.UNSIGNED_INT, points.firstKept * 4);
        }
        gl.depthMask(false);
        gl.uniform1f(at.depth, 0.5);
        gl.uniform1f(at.diameter, size.plain);
        gl.uniform4f(at.outline, 0, 0, 0, 0);
        gl.drawElements(gl.POINTS, to - from, gl.UNSIGNED_INT, from * 4);
    }

    release(): void {
        for (const buffer of [...this.buffers, this.elements]) this.gl.deleteBuffer(buffer);
        this.gl.deleteProgram(this.program);
    }
}

class PlainPainter implements Painter {
    private points: Points | null = null;

    constructor(private readonly context: CanvasRenderingContext2D) {}

    set(points: Points): void {
        this.points = points;
    }

    draw({ view, width, height, ratio, outline }: PointScene, from: number, to: number): void {
        const { context, points } = this;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        if (!from) context.clearRect(0, 0, width, height);
        if (!points) return;
        const { x, y, rgba, order, firstKept } = points;
        const size = diameters(points, 1);
        context.lineWidth = size.outline;
        for (let i = from; i < order.length; i++) {
            if (i === to) i = firstKept;
            if (i >= order.length) break;
            const tree = order[i];
            const isKept = i >= firstKept;
            const d = isKept ? size.kept : size.plain;
            const [left, top] = [
                x[tree] * view.scaleX + view.x - d / 2,
                (1 - y[tree]) * view.scaleY + view.y - d / 2,
            ];
            if (left < -d || top < -d || left > width || top > height) continue;
            const c = tree * 4;
            context.fillStyle = `rgba(${rgba[c]},${rgba[c + 1]},${rgba[c + 2]},${rgba[c + 3] / 255})`;
            context.fillRect(left, top, d, d);
            if (isKept) {
                context.strokeStyle = `rgb(${outline.join()})`;
                context.strokeRect(left, top, d, d);
            }
        }
    }

    release(): void {
        this.points = null;
    }
}

export function makePainter(canvas: HTMLCanvasElement): Painter {
    const options = {
        antialias: false,
        depth: true,
        premultipliedAlpha: true,
        preserveDrawingBuffer: true,
    };
    const gl = canvas.getContext("webgl2", options) as WebGL2RenderingContext | null;
    if (gl) return new WebglPainter(gl);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser can draw on no canvas");
    return new PlainPainter(context);
}
