// A bundle of columns, as the server makes one.

/* "SNGC", length of the header, header padded to 8, then the data */
export function bundle(header: object, data: Uint8Array): ArrayBuffer {
    let text = JSON.stringify(header);
    text += " ".repeat((8 - (text.length % 8)) % 8);
    const out = new Uint8Array(8 + text.length + data.length);
    out.set(new TextEncoder().encode("SNGC"), 0);
    new DataView(out.buffer).setUint32(4, text.length, true);
    out.set(new TextEncoder().encode(text), 8);
    out.set(data, 8 + text.length);
    return out.buffer;
}
