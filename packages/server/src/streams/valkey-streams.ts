import type { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";
import { createPageReader, pageSize } from "./page-reader.ts";
import type { RunEvent, RunStreams, StoredEvent } from "./run-streams.ts";
import { maxStreamBytes, maxTextLength, streamTtlMs, ttlAfter, withoutArguments } from "./stream-limits.ts";
import { appendScript, putScript, takeScript } from "./stream-scripts.ts";
import { textOfStep } from "./text-diff.ts";
import { createTextWriter, type PutResult, type TextStore } from "./text-writer.ts";
import type { Subscriptions } from "./valkey-subscriptions.ts";

type Entry = readonly [id: string, fields: readonly string[]];
type Call<T> = (...args: (string | number)[]) => Promise<T>;
type Scripted = Redis & { takeText: Call<Entry[] | null>; putText: Call<PutResult>; appendEvent: Call<null> };

interface ValkeyStreamsOptions {
  readonly valkey: Redis;
  readonly subscriptions: Subscriptions;
  readonly logger: Logger;
  readonly now: () => number;
  readonly maxBytes?: number;
}

/** Most events are tokens: they are stored compactly as [step, offset, text]. */
const pack = (event: RunEvent): string =>
  JSON.stringify(event.type === "token" ? [event.step, event.offset, event.text] : event);

function unpack([id, fields]: Entry): StoredEvent {
  const packed = JSON.parse(fields[1] ?? "") as [number, number, string] | RunEvent;
  if (!Array.isArray(packed)) return { id, event: packed };
  const [step, offset, text] = packed;
  return { id, event: { type: "token", step, offset, text } };
}

const keysOf = (runId: string) => [`perch:stream:{${runId}}`, `perch:stream:{${runId}}:owner`] as const;

/** Any node writes and any node reads. Nothing here is a record: what Valkey loses costs the tokens, not the run. */
export function createValkeyStreams(options: ValkeyStreamsOptions): RunStreams {
  const { subscriptions, logger, now, maxBytes = maxStreamBytes } = options;
  const valkey = options.valkey as Scripted;
  for (const [name, lua] of [
    ["takeText", takeScript],
    ["putText", putScript],
    ["appendEvent", appendScript],
  ] as const)
    valkey.defineCommand(name, { lua, numberOfKeys: 2 });
  let isClosed = false;
  const onFailure = (error: unknown): void => logger.debug({ err: error }, "run stream call failed");

  const storeOf = (runId: string, step: number): TextStore => {
    const keys = keysOf(runId);
    return {
      take: async ({ writer, startedAtMs, generation }) => {
        const entries = await valkey.takeText(...keys, streamTtlMs, writer, startedAtMs, generation, step);
        const events = entries?.map((entry) => unpack(entry).event);
        return events && textOfStep(events, step);
      },
      put: ({ writer, generation }, token) =>
        valkey.putText(...keys, streamTtlMs, writer, generation, maxBytes, pack({ type: "token", step, ...token })),
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
    writeText: (runId, step) =>
      createTextWriter({
        store: storeOf(runId, step),
        now,
        maxTextLength: Math.min(maxBytes, maxTextLength),
        onFailure,
      }),
    append: async (runId, event) => {
      const payloads = [pack(event), pack(withoutArguments(event))];
      await valkey.appendEvent(...keysOf(runId), ttlAfter(event), maxBytes, ...payloads).catch(onFailure);
    },
    read,
    close: async () => {
      isClosed = true;
      subscriptions.close();
    },
  };
}
