// What moves many times a second, once it rests: a window that is zoomed is asked about when it stands.
import { useEffect, useState } from "preact/hooks";

const restMs = 200;

export function useRested<T>(value: T, key: string): T {
    const [rested, setRested] = useState(value);
    useEffect(() => {
        const timer = setTimeout(() => setRested(value), restMs);
        return () => clearTimeout(timer);
    }, [key]);
    return rested;
}
