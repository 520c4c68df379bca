import { type Invocation, PerchError, type RunStreamEvent } from "@perch/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { perch } from "../../../api/perch.ts";
import { runQuery } from "../../../api/runs-queries.ts";
import type { Trace } from "../../../run-trace/trace.ts";
import { addEvent, startTrace } from "../../../run-trace/trace-of-events.ts";

export interface LiveTrace {
  readonly trace: Trace;
  /** The stream broke and could not be continued, so the page polls the run instead. */
  readonly isLost: boolean;
  /** When the page began to follow: earlier events have no exact times. */
  readonly followedSinceMs: number;
}

/** Calls `apply` once per frame with its events: a fast stream must not render more often than the screen does. */
function createBatch(apply: (events: readonly RunStreamEvent[]) => void) {
  let events: RunStreamEvent[] = [];
  let frame = 0;
  const flush = () => {
    const batch = events;
    events = [];
    frame = 0;
    apply(batch);
  };
  return {
    add: (event: RunStreamEvent) => {
      events.push(event);
      frame ||= requestAnimationFrame(flush);
    },
    stop: () => cancelAnimationFrame(frame),
  };
}

const startLive = (): LiveTrace => ({ trace: startTrace(Date.now()), isLost: false, followedSinceMs: Date.now() });

/** A failed or cancelled run ends its stream with an error that has the run's id. Other errors come from the connection. */
const isEndOfRun = (error: unknown): boolean => error instanceof PerchError && error.runId !== undefined;

/** Follows a run while it is under way. Afterwards its record is fetched, which replaces the live trace. */
export function useLiveTrace(agent: string, run: string, isRunning: boolean): LiveTrace {
  const client = useQueryClient();
  const [live, setLive] = useState(startLive);
  useEffect(() => {
    if (!isRunning) return;
    const controller = new AbortController();
    setLive(startLive());
    const batch = createBatch((events) => {
      const atMs = Date.now();
      setLive((before) => ({
        ...before,
        trace: events.reduce((trace, event) => addEvent(trace, { event, atMs }), before.trace),
      }));
    });
    const follow = async () => {
      try {
        for await (const event of perch.runs.follow(agent, run, { signal: controller.signal })) batch.add(event);
      } catch (error) {
        if (controller.signal.aborted) return;
        if (!isEndOfRun(error)) setLive((before) => ({ ...before, isLost: true }));
      }
      await client.invalidateQueries({ queryKey: runQuery(agent, run).queryKey });
    };
    void follow();
    return () => {
      controller.abort();
      batch.stop();
    };
  }, [agent, run, isRunning, client]);
  return live;
}

/** The step was over before the page followed the run, so its duration is not known yet. */
export const withoutGuesses = ({ trace }: LiveTrace): Trace => ({
  ...trace,
  steps: trace.steps.map((step) => (step.durationMs === 0 ? { ...step, durationMs: null } : step)),
});

export const isUnderWay = (run: Pick<Invocation, "status">): boolean => run.status === "running";
