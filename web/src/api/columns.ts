// Bundles of binary columns: "SNGC", the length of a JSON header, the header, the data.
// The typed arrays are views of the one buffer that came from the server: nothing is copied.

export type Column =
    Uint8Array | Int8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

const types = {
    u8: Uint8Array,
    i8: Int8Array,
    u16: Uint16Array,
    u32: Uint32Array,
    f32: Float32Array,
    f64: Float64Array,
} as const;

interface Described {
    name: string;
    type: keyof typeof types;
    n: number;
    offset: number;
}

export interface Bundle {
    header: Record<string, unknown>;
    columns: Record<string, Column>;
}

/* Throws an Error that says what is wrong when the bytes are no bundle. */
export function parseBundle(buffer: ArrayBuffer): Bundle {
    const bytes = new Uint8Array(buffer);
    if (bytes.length < 8 || String.fromCharCode(...bytes.subarray(0, 4)) !== "SNGC")
        throw new Error("the answer is not a bundle of columns");
    const headerLength = new DataView(buffer).getUint32(4, true);
    const start = 8 + headerLength;
    if (start > bytes.length) throw new Error("the bundle of columns is cut short");
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
    const columns: Record<string, Column> = {};
    for (const { name, type, n, offset } of header.columns as Described[]) {
        const make = types[type];
        if (!make || start + offset + n * make.BYTES_PER_ELEMENT > bytes.length)
            throw new Error(`column '${name}' does not fit its bundle`);
        columns[name] = new make(buffer, start + offset, n);
    }
    return { header, columns };
}
