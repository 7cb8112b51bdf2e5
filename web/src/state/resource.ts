// Something asked of the server for a view: loading, there, or failed. Asked again when its key
// changes, when the server comes back, and by retry().
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/http";

export interface Resource<T> {
    value: T | null;
    error: string | null;
    isLoading: boolean;
    retry: () => void;
}

/* Counts how often the server came back; what failed meanwhile is asked for again. */
export const timesBack = signal(0);

/* key null: nothing is asked for. keeps: the old value stays until the new one is there. */
export function useResource<T>(
    key: string | null,
    load: (abort: AbortSignal) => Promise<T>,
    keeps = false,
): Resource<T> {
    const [state, setState] = useState<{
        key: string | null;
        value: T | null;
        error: string | null;
    }>({
        key: null,
        value: null,
        error: null,
    });
    const [tries, setTries] = useState(0);
    const failed = useRef(false);
    const back = timesBack.value;

    useEffect(() => {
        if (failed.current) setTries((n) => n + 1);
    }, [back]);
    useEffect(() => {
        if (key === null) return;
        const abort = new AbortController();
        load(abort.signal).then(
            (value) => {
                failed.current = false;
                if (!abort.signal.aborted) setState({ key, value, error: null });
            },
            (error: Error) => {
                if (abort.signal.aborted) return;
                failed.current = error instanceof ApiError && error.status === 0;
                setState((old) => ({
                    key,
                    value: keeps ? old.value : null,
                    error: error.message,
                }));
            },
        );
        return () => abort.abort();
    }, [key, tries]);

    const isCurrent = state.key === key;
    return {
        value: isCurrent || keeps ? state.value : null,
        error: isCurrent ? state.error : null,
        isLoading: key !== null && !isCurrent,
        retry: () => setTries((n) => n + 1),
    };
}
