import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { fetchLogPage, followLog, type LogPage, type LogQuery, type TailState } from "../../../api/logs-queries.ts";
import { createLogStore, type LogStore } from "./log-store.ts";

/** An error, and a function that retries. */
interface Failure {
  readonly error: unknown;
  readonly retry: () => void;
}

export interface Log {
  readonly store: LogStore;
  /** Undefined unless a tail runs. */
  readonly tail: TailState | undefined;
  readonly isLoading: boolean;
  readonly failure: Failure | undefined;
  readonly loadOlder: () => void;
}

/** The newest lines of a log, older ones on request, and new ones as they are written. */
export function useLog(query: LogQuery, isTail: boolean): Log {
  const [attempt, setAttempt] = useState(0);
  // Another query, or another attempt, starts with an empty store.
  const store = useMemo(createLogStore, [query, isTail, attempt]);
  const [tail, setTail] = useState<TailState>("connecting");
  const [failure, setFailure] = useState<Failure>();
  const [isLoading, setIsLoading] = useState(true);

  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const fail = (error: unknown, retry: () => void) => {
      if (signal.aborted) return;
      setFailure({ error, retry });
      setIsLoading(false);
    };
    const readNewest = () => {
      const isFirst = store.lines.olderCursor() === undefined;
      if (isFirst) setIsLoading(true);
      setFailure((failed) => (failed?.retry === readNewest ? undefined : failed));
      const add = (page: LogPage) => {
        store.addNewest(page);
        if (isFirst) setIsLoading(false);
      };
      fetchLogPage(query, undefined, signal).then(add, (error: unknown) => fail(error, readNewest));
    };
    setFailure(undefined);
    // The log is read once the stream is open, so that no line is missed between the two; a line in both has the same id. It is read again
    // after a lost connection, because lines added meanwhile with an older time are not in the stream.
    const onState = (state: TailState) => {
      if (signal.aborted) return;
      setTail(state);
      if (state === "open") readNewest();
    };
    const onEnd = (error: unknown) => {
      if (!signal.aborted) setTail("ended");
      fail(error, () => setAttempt((before) => before + 1));
    };
    setIsLoading(true);
    if (isTail) followLog(query, { signal, onState, onLine: store.receive }).catch(onEnd);
    else readNewest();
    return () => {
      leaving.abort();
      store.stop();
    };
  }, [query, isTail, store]);

  const loadOlder = useOlder(query, store, setIsLoading, setFailure);
  useSyncExternalStore(store.subscribe, store.version);
  return { store, tail: isTail ? tail : undefined, isLoading, failure, loadOlder };
}

function useOlder(
  query: LogQuery,
  store: LogStore,
  setIsLoading: (is: boolean) => void,
  setFailure: (failure: Failure | undefined) => void,
): () => void {
  const request = useRef<AbortController>(undefined);
  // A response that arrives after the query has changed is dropped.
  useEffect(() => () => request.current?.abort(), [query, store]);
  return useCallback(() => {
    const load = () => {
      const cursor = store.lines.olderCursor();
      if (!cursor) return;
      // The view is paused, so that the older lines do not move while the user reads them.
      store.pause();
      request.current?.abort();
      const leaving = new AbortController();
      request.current = leaving;
      setFailure(undefined);
      setIsLoading(true);
      fetchLogPage(query, cursor, leaving.signal).then(
        (page) => {
          if (leaving.signal.aborted) return;
          store.addOlder(page, cursor);
          setIsLoading(false);
        },
        (error: unknown) => {
          if (leaving.signal.aborted) return;
          setFailure({ error, retry: load });
          setIsLoading(false);
        },
      );
    };
    load();
  }, [query, store, setIsLoading, setFailure]);
}
