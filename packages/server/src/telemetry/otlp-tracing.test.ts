import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startSpanCollector } from "../../test/support/span-collector.ts";
import type { Logger } from "../platform/logger.ts";
import { createTracing } from "./otlp-tracing.ts";

test("a failing span export is logged once, and its recovery once", async () => {
  const collector = await startSpanCollector();
  const lines: unknown[] = [];
  const keep = (...line: unknown[]) => void lines.push(line.at(-1));
  const logger = { warn: keep, info: keep } as unknown as Logger;
  const tracing = createTracing({ url: collector.url, version: "1", logger });
  const addSpan = async (name: string) => {
    const ids = { traceId: "1".repeat(32), spanId: "1".repeat(16), parentId: null };
    tracing.add({ ...ids, name, kind: "internal", startMs: 1, endMs: 2, failed: false, attributes: {} });
    await sleep(1300);
  };
  collector.setBehaviour("refuse");
  await addSpan("lost");
  await addSpan("lost too");
  collector.setBehaviour("accept");
  await addSpan("sent");
  await addSpan("sent too");
  await tracing.close();
  collector.close();
  expect(lines).toEqual(["span export failed", "span export recovered"]);
  expect(collector.spans().map(({ name }) => name)).toEqual(["sent", "sent too"]);
});
