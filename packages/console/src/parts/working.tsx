import { useEffect, useState } from "react";

/** Whether it has taken longer than this. */
function useLaterThan(ms: number): boolean {
  const [isLater, setIsLater] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLater(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isLater;
}

/** Shown after 400 ms, so that quick work does not flicker; after 5 s it names what it waits for. */
export function Working({ what }: { readonly what: string }) {
  const isShown = useLaterThan(400);
  const isLong = useLaterThan(5000);
  return (
    <p role="status" className="px-4 py-3 text-table text-muted">
      {isShown && (
        <>
          <span className="pulse mr-2 inline-block size-2 rounded-full bg-accent" />
          Loading {what}.
        </>
      )}
      {isLong && <span> The server has not answered yet; this page keeps waiting.</span>}
    </p>
  );
}
