import { createParser, type EventSourceMessage } from "eventsource-parser";
import { describe, expect, test } from "vitest";
import { createEventParser, readEvents, type SentEvent } from "../src/read-events.ts";

const samples = [
  'retry: 1000\n\nid: 1-0\nevent: token\ndata: {"a":1}\n\n: heartbeat\n\nid: end\nevent: done\ndata: {}\n\n',
  "data: one\r\ndata:two\r\ndata\r\n\r\nevent: x\r\nid: 7\r\ndata:  spaced\r\n\r\n",
  "id: 1\rdata: a\r\rdata: b\r\r",
  "event: never sent\n\ndata: sent\n\nfield: unknown\ndata: x\n\n",
  ":comment\ndata: grüße 🐦\n\ndata: cut off",
];

/** Reproducible, so that a failure can be examined. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function chunksOf(text: string, random: () => number): string[] {
  const chunks: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const length = 1 + Math.floor(random() * 12);
    chunks.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return chunks;
}

const theirs = (chunks: readonly string[]): EventSourceMessage[] => {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  for (const chunk of chunks) parser.feed(chunk);
  return events;
};
const ours = (chunks: readonly string[]): SentEvent[] => {
  const events: SentEvent[] = [];
  const parse = createEventParser(
    (event) => events.push(event),
    () => undefined,
  );
  for (const chunk of chunks) parse(chunk);
  return events;
};

describe("events", () => {
  test("equal those of eventsource-parser, wherever the text is cut", () => {
    let compared = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const random = createRandom(seed);
      for (const sample of samples) {
        const chunks = chunksOf(sample, random);
        const plain = ours(chunks).map(({ id, event, data }) => ({
          id,
          event: event === "message" ? undefined : event,
          data,
        }));
        expect(plain, JSON.stringify(chunks)).toEqual(
          theirs(chunks).map(({ id, event, data }) => ({ id, event, data })),
        );
        compared += plain.length;
      }
    }
    expect(compared).toBeGreaterThan(1000);
  });

  test("are whole, even if a character is cut in the middle, and behind a byte order mark", async () => {
    const bytes = new TextEncoder().encode('\uFEFFid: 1\ndata: "🐦"\n\n');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      },
    });
    let heard = 0;
    const seen: SentEvent[] = [];
    const listeners = { onBytes: () => void heard++, onComment: () => undefined };
    for await (const event of readEvents(body, listeners)) seen.push(event);
    expect(seen).toEqual([{ id: "1", event: "message", data: '"🐦"' }]);
    expect(heard).toBe(bytes.length);
  });
});
