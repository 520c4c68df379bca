import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startSpanCollector } from "../../test/span-collector.ts";
import type { Logger } from "../platform/logger.ts";
import { createTracing } from "./otlp-tracing.ts";

test("the log says once that spans are being lost, and once that they are not any more", async () => {
  const collector = await startSpanCollector();
  const lines: unknown[] = [];
  const keep = (...line: unknown[]) => void lines.push(line.at(-1));
  const logger = { warn: keep, info: keep } as unknown as Logger;
  const tracing = createTracing({ url: collector.url, version: "1", logger });
  const say = async (name: string) => {
    const ids = { traceId: "1".repeat(32), spanId: "1".repeat(16), parentId: null };
    tracing.add({ ...ids, name, kind: "internal", startMs: 1, endMs: 2, failed: false, attributes: {} });
    await sleep(1300);
  };
  collector.behave("refuse");
  await say("lost");
  await say("lost too");
  collector.behave("take");
  await say("heard");
  await say("heard too");
  await tracing.close();
  collector.close();
  expect(lines).toEqual(["spans cannot be sent", "spans can be sent again"]);
  expect(collector.spans().map(({ name }) => name)).toEqual(["heard", "heard too"]);
});
