// wire.mjs -- bundles of columns, problems, headers, as the real server sends them.

export const csp =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const typeOf = {
    Float64Array: "f64",
    Float32Array: "f32",
    Uint32Array: "u32",
    Uint16Array: "u16",
    Uint8Array: "u8",
    Int8Array: "i8",
};

export function bundle(columns, fields) {
    let offset = 0;
    const described = Object.entries(columns).map(([name, c]) => {
        const at = offset;
        offset += Math.ceil(c.byteLength / 8) * 8;
        return { name, type: typeOf[c.constructor.name], n: c.length, offset: at };
    });
    let header = JSON.stringify({ columns: described, ...fields });
    header += " ".repeat((8 - (Buffer.byteLength(header) % 8)) % 8);
    const out = Buffer.alloc(8 + Buffer.byteLength(header) + offset);
    out.write("SNGC", 0);
    out.writeUInt32LE(Buffer.byteLength(header), 4);
    out.write(header, 8);
    described.forEach(({ name, offset: at }) => {
        const c = columns[name];
        Buffer.from(c.buffer, c.byteOffset, c.byteLength).copy(
            out,
            8 + Buffer.byteLength(header) + at,
        );
    });
    return out;
}

export function problem(status, detail) {
    return { type: "about:blank", title: detail, status, detail };
}

export function sendJson(response, body) {
    if (Buffer.isBuffer(body)) {
        response.writeHead(200, { "Content-Type": "application/vnd.snag.columns" });
        response.end(body);
        return;
    }
    const isProblem = body.type === "about:blank";
    response.writeHead(isProblem ? body.status : 200, {
        "Content-Type": isProblem ? "application/problem+json" : "application/json",
    });
    response.end(JSON.stringify(body));
}
