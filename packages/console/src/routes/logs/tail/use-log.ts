import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { fetchLogPage, followLog, type LogQuery, type TailState } from "../../../api/logs-queries.ts";
import { createLogStore, type LogStore } from "./log-store.ts";

export interface Log {
  readonly store: LogStore;
  /** Undefined unless the log is followed. */
  readonly tail: TailState | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly loadOlder: () => void;
}

/** The newest lines of a log, those before them as somebody asks, and what is written from now on. */
export function useLog(query: LogQuery, isTail: boolean): Log {
  const [attempt, setAttempt] = useState(0);
  // Another query, or another attempt, begins with nothing.
  const store = useMemo(createLogStore, [query, isTail, attempt]);
  const [tail, setTail] = useState<TailState>("connecting");
  const [error, setError] = useState<unknown>(undefined);
  const [isLoading, setIsLoading] = useState(true);

  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const fail = (problem: unknown) => {
      if (signal.aborted) return;
      setError(problem);
      setIsLoading(false);
    };
    const load = async () => {
      const page = await fetchLogPage(query, undefined, signal);
      store.addNewest(page);
      setIsLoading(false);
    };
    setError(undefined);
    setIsLoading(true);
    // The log is read once the stream is open: then no line is between the two, and one that is in both has the same id.
    // It is read again after a lost connection: what was added meanwhile with an older time of its own is not in the stream.
    const onState = (state: TailState) => {
      if (signal.aborted) return;
      setTail(state);
      if (state === "open") load().catch(fail);
    };
    if (isTail) followLog(query, { signal, onState, onLine: store.receive }).catch(fail);
    else load().catch(fail);
    return () => {
      leaving.abort();
      store.stop();
    };
  }, [query, isTail, store]);

  const loadOlder = useOlder(query, store, setIsLoading, setError);
  useSyncExternalStore(store.subscribe, store.version);
  return {
    store,
    tail: isTail ? tail : undefined,
    isLoading,
    error,
    retry: () => setAttempt(attempt + 1),
    loadOlder,
  };
}

function useOlder(
  query: LogQuery,
  store: LogStore,
  setIsLoading: (is: boolean) => void,
  setError: (error: unknown) => void,
): () => void {
  const request = useRef<AbortController>(undefined);
  // An answer that comes after another log was asked for is nobody's.
  useEffect(() => () => request.current?.abort(), [query, store]);
  return useCallback(() => {
    const cursor = store.lines.olderCursor();
    if (!cursor) return;
    // Whoever reads what is older wants it to stay where it is.
    store.pause();
    request.current?.abort();
    const leaving = new AbortController();
    request.current = leaving;
    setIsLoading(true);
    fetchLogPage(query, cursor, leaving.signal).then(
      (page) => {
        if (leaving.signal.aborted) return;
        store.addOlder(page, cursor);
        setIsLoading(false);
      },
      (problem: unknown) => {
        if (leaving.signal.aborted) return;
        setError(problem);
        setIsLoading(false);
      },
    );
  }, [query, store, setIsLoading, setError]);
}
