// Which module a function belongs to: the source file that the trace names; else, by its name, the Python file or the
// C++ class or namespace it is of; else the program.
interface Named {
    name: string;
    short_name: string;
    file: string | null;
}

export const program = "the program";

/* "A::B" of A::B::f; null: it is of none. What stands behind a blank, a parenthesis or a template's bracket is no part of it. */
function scopeOf(name: string): string | null {
    const [plain] = name.split(/[\s(<]/, 1);
    const end = plain.lastIndexOf("::");
    return end > 0 ? plain.slice(0, end) : null;
}

/* By which modules are told apart: of files the whole path. */
export function moduleOf({ short_name, file }: Named): string {
    if (file) return file;
    const [, python] = /^(\S+\.py)\(\d+\): /.exec(short_name) ?? [];
    return python ?? scopeOf(short_name) ?? program;
}

/* As it is shown: of a file its name, with as many folders as tell it from the others. */
export function moduleName(module: string, all: Iterable<string>): string {
    const parts = module.split("/");
    const others = [...all].filter((other) => other !== module);
    for (let n = 1; n < parts.length; n++) {
        const end = parts.slice(-n).join("/");
        if (!others.some((other) => other === end || other.endsWith(`/${end}`))) return end;
    }
    return module;
}
