// Whether the window is as a media query of style sheets says, kept up to date.
import { useEffect, useState } from "preact/hooks";

export function useMedia(query: string): boolean {
    const [is, setIs] = useState(() => matchMedia(query).matches);
    useEffect(() => {
        const list = matchMedia(query);
        const ask = () => setIs(list.matches);
        ask();
        list.addEventListener("change", ask);
        return () => list.removeEventListener("change", ask);
    }, [query]);
    return is;
}
