import type { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";
import { createPageReader, pageSize } from "./page-reader.ts";
import type { RunEvent, RunStreams, StoredEvent, StreamOwner, TokenEvent, ToolEvent } from "./run-streams.ts";
import {
  maxStreamBytes,
  maxStreamBytesOf,
  maxTextLength,
  streamTtlMs,
  ttlAfter,
  withoutContents,
} from "./stream-limits.ts";
import { appendScript, putScript, takeScript } from "./stream-scripts.ts";
import { textOfStep } from "./text-diff.ts";
import { createTextWriter, type PutResult, type TextStore } from "./text-writer.ts";
import type { Subscriptions } from "./valkey-subscriptions.ts";

type Entry = readonly [id: string, fields: readonly string[]];
type Call<T> = (...args: (string | number)[]) => Promise<T>;
type Scripted = Redis & {
  takeText: Call<Entry[] | null>;
  putText: Call<PutResult>;
  appendEvent: Call<"put" | "dropped" | "late">;
};

interface ValkeyStreamsOptions {
  readonly valkey: Redis;
  readonly subscriptions: Subscriptions;
  /** When a call that is sent now is void, on Valkey's clock. 0: never. */
  readonly deadlineMs: () => number;
  readonly logger: Logger;
  readonly now: () => number;
  readonly maxBytes?: number;
  /** Called when events of a run are not stored, because its organisation's streams hold as much as they may. */
  readonly onDropped?: () => void;
}

/** The output of a tool is stored as `said`: two releases share a stream during an upgrade, so the stored name stays. */
type PackedEvent = readonly [number, number, string] | (Exclude<RunEvent, ToolEvent | TokenEvent> | PackedToolEvent);
type PackedToolEvent = Omit<ToolEvent, "output"> & { readonly said?: unknown };

/** Most events are tokens: they are stored compactly as [step, offset, text]. */
function pack(event: RunEvent): string {
  if (event.type === "token") return JSON.stringify([event.step, event.offset, event.text] satisfies PackedEvent);
  if (event.type !== "tool") return JSON.stringify(event satisfies PackedEvent);
  const { output, ...rest } = event;
  return JSON.stringify({ ...rest, said: output } satisfies PackedEvent);
}

function unpack([id, fields]: Entry): StoredEvent {
  const packed = JSON.parse(fields[1] ?? "") as PackedEvent;
  if ("type" in packed) {
    if (packed.type !== "tool") return { id, event: packed };
    const { said, ...rest } = packed;
    return { id, event: said === undefined ? rest : { ...rest, output: said } };
  }
  const [step, offset, text] = packed;
  return { id, event: { type: "token", step, offset, text } };
}

const keysOf = (runId: string) => [`perch:stream:{${runId}}`, `perch:stream:{${runId}}:owner`] as const;

/** The third key of every script, and the end of its arguments. A run of an earlier release does not name its tier. */
function boundsOf(owner: StreamOwner | undefined) {
  const maxBytes = maxStreamBytesOf[owner?.tier ?? "enterprise"];
  const bounds = [maxBytes, pack({ type: "dropped", maxBytes })] as const;
  return { organisationKey: owner ? `perch:streams:${owner.organisationId}` : "", bounds };
}

/** Any node writes and any node reads. Nothing here is a record: a loss in Valkey costs the tokens, not the run. */
export function createValkeyStreams(options: ValkeyStreamsOptions): RunStreams {
  const { subscriptions, deadlineMs, logger, now, maxBytes = maxStreamBytes, onDropped = () => undefined } = options;
  const valkey = options.valkey as Scripted;
  for (const [name, lua] of [
    ["takeText", takeScript],
    ["putText", putScript],
    ["appendEvent", appendScript],
  ] as const)
    valkey.defineCommand(name, { lua, numberOfKeys: 3 });
  let isClosed = false;
  const onFailure = (error: unknown): void => logger.debug({ err: error }, "run stream call failed");

  const storeOf = (runId: string, step: number, owner: StreamOwner | undefined): TextStore => {
    const { organisationKey, bounds } = boundsOf(owner);
    const keys = [...keysOf(runId), organisationKey] as const;
    return {
      take: async ({ writer, startedAtMs, generation }) => {
        const claim = [writer, startedAtMs, generation, step] as const;
        const entries = await valkey.takeText(...keys, streamTtlMs, ...claim, deadlineMs(), ...bounds);
        const events = entries?.map((entry) => unpack(entry).event);
        return events && textOfStep(events, step);
      },
      put: async ({ writer, generation }, token) => {
        const payload = pack({ type: "token", step, ...token });
        const result = await valkey.putText(...keys, streamTtlMs, writer, generation, maxBytes, payload, ...bounds);
        if (result === "dropped") onDropped();
        return result;
      },
    };
  };

  const read = createPageReader({
    listen: (runId, wake) => subscriptions.listen(keysOf(runId)[0], wake),
    page: async (runId, after) => {
      try {
        const start = after === undefined ? "-" : `(${after}`;
        return (await valkey.xrange(keysOf(runId)[0], start, "+", "COUNT", pageSize)).map(unpack);
      } catch (error) {
        onFailure(error);
        return undefined;
      }
    },
    isListening: subscriptions.isListening,
    isClosed: () => isClosed,
  });

  return {
    writeText: (runId, step, owner) =>
      createTextWriter({
        store: storeOf(runId, step, owner),
        now,
        maxTextLength: Math.min(maxBytes, maxTextLength),
        onFailure,
      }),
    append: async (runId, event, owner) => {
      const { organisationKey, bounds } = boundsOf(owner);
      const payloads = [pack(event), pack(withoutContents(event))];
      // An end has no contents, and its readers look at the record.
      const isEnd = event.type === "end";
      const args = [ttlAfter(event), maxBytes, ...payloads, isEnd ? "always" : "", isEnd ? 0 : deadlineMs(), ...bounds];
      const result = await valkey.appendEvent(...keysOf(runId), organisationKey, ...args).catch(onFailure);
      if (result === "dropped") onDropped();
    },
    read,
    delete: async (runIds) => {
      const removed = await Promise.all(
        runIds.map(async (runId) => {
          const [stream, owner] = keysOf(runId);
          const found = await valkey.unlink(stream);
          await valkey.unlink(owner);
          return found;
        }),
      );
      return removed.reduce((sum, found) => sum + found, 0);
    },
    close: async () => {
      isClosed = true;
      subscriptions.close();
    },
  };
}
