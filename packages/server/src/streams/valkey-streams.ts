import type { Redis } from "iovalkey";
import type { Logger } from "../platform/logger.ts";
import { createPageReader, pageSize } from "./page-reader.ts";
import type { RunEvent, RunStreams, StoredEvent } from "./run-streams.ts";
import { textOfStep } from "./said-text.ts";
import { keptAfter, keptMs, mostStreamBytes, mostTextLength, withoutArguments } from "./stream-limits.ts";
import { appendScript, putScript, takeScript } from "./stream-scripts.ts";
import { createTextWriter, type PutAnswer, type TextStore } from "./text-writer.ts";
import type { Subscriptions } from "./valkey-subscriptions.ts";

type Entry = readonly [id: string, fields: readonly string[]];
type Call<T> = (...args: (string | number)[]) => Promise<T>;
type Scripted = Redis & { takeText: Call<Entry[] | null>; putText: Call<PutAnswer>; appendEvent: Call<null> };

interface ValkeyStreamsOptions {
  readonly valkey: Redis;
  readonly subscriptions: Subscriptions;
  readonly logger: Logger;
  readonly now: () => number;
  readonly mostBytes?: number;
}

/** Tokens are nearly all there is: they are kept as [step, offset, text]. */
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
  const { subscriptions, logger, now, mostBytes = mostStreamBytes } = options;
  const valkey = options.valkey as Scripted;
  for (const [name, lua] of [
    ["takeText", takeScript],
    ["putText", putScript],
    ["appendEvent", appendScript],
  ] as const)
    valkey.defineCommand(name, { lua, numberOfKeys: 2 });
  let isClosed = false;
  const onFailure = (error: unknown): void => logger.debug({ err: error }, "a run's stream does not answer");

  const storeOf = (runId: string, step: number): TextStore => {
    const keys = keysOf(runId);
    return {
      take: async ({ writer, startedAtMs, take }) => {
        const entries = await valkey.takeText(...keys, keptMs, writer, startedAtMs, take, step);
        const events = entries?.map((entry) => unpack(entry).event);
        return events && textOfStep(events, step);
      },
      put: ({ writer, take }, token) =>
        valkey.putText(...keys, keptMs, writer, take, mostBytes, pack({ type: "token", step, ...token })),
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
        mostTextLength: Math.min(mostBytes, mostTextLength),
        onFailure,
      }),
    append: async (runId, event) => {
      const payloads = [pack(event), pack(withoutArguments(event))];
      await valkey.appendEvent(...keysOf(runId), keptAfter(event), mostBytes, ...payloads).catch(onFailure);
    },
    read,
    close: async () => {
      isClosed = true;
      subscriptions.close();
    },
  };
}
