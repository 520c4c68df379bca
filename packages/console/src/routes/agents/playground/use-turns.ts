import type { InvokeAgent, Perch, RunStream } from "@perch/sdk";
import { useCallback, useEffect, useRef, useState } from "react";
import { readInFrames } from "./follow-turn.ts";
import { type Sending, startSending, stopSending } from "./sending.ts";
import { addEvents, failTurn, newTurn, type Turn } from "./turn.ts";

/** A node that restarts, and a load balancer that notices, take longer than a usual request waits. */
const streamRetries = 30;

type Change = (turn: Turn) => Turn;
type Open = (client: Perch, signal: AbortSignal) => RunStream;

export interface Turns {
  /** The turns of all sessions that this page has started or follows. */
  readonly all: readonly Turn[];
  readonly send: (agent: string, session: string, body: InvokeAgent) => void;
  /** Follows a run that was started elsewhere, or before this page was loaded. */
  readonly follow: (agent: string, turn: Turn) => void;
  readonly stop: (agent: string, turn: Turn) => void;
}

export function useTurns(onUnsent: (message: string) => void): Turns {
  const [all, setAll] = useState<readonly Turn[]>([]);
  const sendings = useRef(new Map<string, Sending>());
  const leaving = useRef(new AbortController());

  useEffect(() => {
    leaving.current = new AbortController();
    // Closes the connections. The runs go on, and are found again by their session.
    return () => leaving.current.abort();
  }, []);

  const change = useCallback((id: string, make: Change) => {
    setAll((turns) => turns.map((turn) => (turn.id === id ? make(turn) : turn)));
  }, []);

  const read = useCallback(
    async (turn: Turn, open: Open) => {
      const { signal } = leaving.current;
      setAll((turns) => [...turns.filter(({ id }) => id !== turn.id), turn]);
      const sending = startSending(open, signal, (trouble) => change(turn.id, (now) => ({ ...now, trouble })));
      const { stream } = sending;
      sendings.current.set(turn.id, sending);
      try {
        await readInFrames(stream, (events) =>
          change(turn.id, (now) => addEvents({ ...now, runId: now.runId ?? stream.runId }, events)),
        );
      } catch (error) {
        if (!signal.aborted)
          change(turn.id, (now) => failTurn({ ...now, runId: now.runId ?? stream.runId }, error, Date.now()));
        if (stream.runId === undefined && (!signal.aborted || sending.isInTrouble())) onUnsent(turn.message);
      } finally {
        sendings.current.delete(turn.id);
      }
    },
    [change, onUnsent],
  );

  const send: Turns["send"] = useCallback(
    (agent, session, body) => {
      const turn = newTurn({ id: crypto.randomUUID(), session, message: body.message }, Date.now());
      void read(turn, (client, signal) =>
        client.agents.invokeStream(agent, body, { signal, maxRetries: streamRetries, waitForDecision: true }),
      );
    },
    [read],
  );

  const follow: Turns["follow"] = useCallback(
    (agent, turn) => {
      const { runId } = turn;
      if (runId === undefined || sendings.current.has(turn.id)) return;
      const again: Turn = { ...turn, status: "running", error: undefined };
      void read(again, (client, signal) =>
        client.runs.follow(agent, runId, { signal, maxRetries: streamRetries, waitForDecision: true }),
      );
    },
    [read],
  );

  const stop: Turns["stop"] = useCallback(
    (agent, { id }) => {
      const sending = sendings.current.get(id);
      if (!sending) return;
      change(id, (now) => ({ ...now, isStopping: true }));
      stopSending(agent, sending, () => !sendings.current.has(id)).catch((error: unknown) =>
        change(id, (now) => ({ ...now, isStopping: false, trouble: `It could not be stopped: ${String(error)}` })),
      );
    },
    [change],
  );

  return { all, send, follow, stop };
}
