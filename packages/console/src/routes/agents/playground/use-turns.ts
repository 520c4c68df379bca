import type { InvokeAgent, Perch, RunStream } from "@perch/sdk";
import { useCallback, useEffect, useRef, useState } from "react";
import { createPerch, perch } from "../../../api/perch.ts";
import { connectionLogger, readInFrames } from "./follow-turn.ts";
import { addEvents, failTurn, newTurn, type Turn } from "./turn.ts";

/** A node that restarts, and a balancer that notices, take longer than a usual request waits. */
const streamRetries = 30;

type Change = (turn: Turn) => Turn;
type Open = (client: Perch, signal: AbortSignal) => RunStream;

export interface Turns {
  /** The turns that this page has started or follows, of all sessions. */
  readonly all: readonly Turn[];
  readonly send: (agent: string, session: string, body: InvokeAgent) => void;
  /** Follows a run that was started elsewhere, or before this page was loaded. */
  readonly follow: (agent: string, turn: Turn) => void;
  readonly stop: (agent: string, turn: Turn) => void;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The run can be cancelled as soon as the server has accepted it. */
async function cancelRun(agent: string, stream: RunStream, isOver: () => boolean): Promise<void> {
  while (stream.runId === undefined && !isOver()) await pause(50);
  if (stream.runId !== undefined && !isOver()) await perch.runs.cancel(agent, stream.runId);
}

export function useTurns(): Turns {
  const [all, setAll] = useState<readonly Turn[]>([]);
  const streams = useRef(new Map<string, RunStream>());
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
      const onTrouble = (trouble: string | undefined) => change(turn.id, (now) => ({ ...now, trouble }));
      const stream = open(createPerch(connectionLogger(onTrouble)), signal);
      streams.current.set(turn.id, stream);
      try {
        await readInFrames(stream, (events) =>
          change(turn.id, (now) => addEvents({ ...now, runId: now.runId ?? stream.runId }, events)),
        );
      } catch (error) {
        if (!signal.aborted)
          change(turn.id, (now) => failTurn({ ...now, runId: now.runId ?? stream.runId }, error, Date.now()));
      } finally {
        streams.current.delete(turn.id);
      }
    },
    [change],
  );

  const send: Turns["send"] = useCallback(
    (agent, session, body) => {
      const turn = newTurn({ id: crypto.randomUUID(), session, message: body.message }, Date.now());
      void read(turn, (client, signal) =>
        client.agents.invokeStream(agent, body, { signal, maxRetries: streamRetries }),
      );
    },
    [read],
  );

  const follow: Turns["follow"] = useCallback(
    (agent, turn) => {
      const { runId } = turn;
      if (runId === undefined || streams.current.has(turn.id)) return;
      const again: Turn = { ...turn, status: "running", error: undefined };
      void read(again, (client, signal) => client.runs.follow(agent, runId, { signal, maxRetries: streamRetries }));
    },
    [read],
  );

  const stop: Turns["stop"] = useCallback(
    (agent, { id }) => {
      const stream = streams.current.get(id);
      if (!stream) return;
      change(id, (now) => ({ ...now, isStopping: true }));
      cancelRun(agent, stream, () => !streams.current.has(id)).catch((error: unknown) =>
        change(id, (now) => ({ ...now, isStopping: false, trouble: `It could not be stopped: ${String(error)}` })),
      );
    },
    [change],
  );

  return { all, send, follow, stop };
}
