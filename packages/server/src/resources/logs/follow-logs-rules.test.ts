import { expect, test } from "vitest";
import type { ServerComment, ServerEvent } from "../handlers.ts";
import { followLogs, startFollowing } from "./follow-logs.ts";
import type { LogNotification } from "./log-notifications.ts";
import type { LogRow } from "./log-queries.ts";

const startMs = Date.parse("2026-11-17T12:00:00.000Z");
const filter = { organisationId: "o", agentId: "a", from: new Date(0), until: new Date(startMs) };
const row = (id: number, atMs: number, rest: Partial<LogRow> = {}): LogRow => ({
  id: String(id),
  at: new Date(atMs),
  level: 1,
  message: `line ${id}`,
  metadata: {},
  invocation_id: null,
  environment: null,
  version: null,
  line: null,
  ...rest,
});

const completeAt = (ms: number) => `complete until ${new Date(startMs + ms).toISOString()}`;

/** A follower of a log that is made up, by a clock that is set. */
function follow({ contains }: { readonly contains?: string } = {}) {
  let nowMs = startMs;
  let notify: (notification?: LogNotification) => void = () => undefined;
  const stop = new AbortController();
  const log = {
    pages: [] as LogRow[][],
    reads: 0,
    turns: 0,
    /** The rows that the next read of a notification finds, and how long it takes. */
    notified: [] as LogRow[],
    takesMs: 0,
  };
  const deps = {
    logReader: {
      readNotified: async () => {
        nowMs += log.takesMs;
        return log.notified;
      },
      readSince: async () => {
        log.reads++;
        return log.pages.shift() ?? [];
      },
      readTimesSince: async () => [],
      readRun: async () => [],
    },
    logSearches: {
      acquire: async () => {
        log.turns++;
        return () => undefined;
      },
    },
    logNotifications: {
      publish: () => undefined,
      listen: (_: string, listener: typeof notify) => {
        notify = listener;
        return () => undefined;
      },
      close: () => undefined,
    },
    now: () => nowMs,
  };
  const start = { from: new Date(startMs - 10_000), known: [], readUntilMs: startMs };
  const events = followLogs(deps, { ...filter, contains }, start, stop.signal);
  const next = async () => {
    const { value } = (await events.next()) as { readonly value: ServerEvent | ServerComment | undefined };
    if (!value) return "the end";
    return "comment" in value ? value.comment : (value.data as { readonly message: string }).message;
  };
  /** Takes the first mark, and what was written before the follower listened. */
  const begin = async () => {
    log.pages = [[row(0, startMs)]];
    expect([await next(), await next(), await next()]).toEqual([completeAt(0), "line 0", completeAt(0)]);
  };
  return {
    log,
    next,
    begin,
    stop: () => stop.abort(),
    notify: (notification?: LogNotification) => notify(notification),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

const run = "01936b1e-0000-7000-8000-000000000000";
const place: LogNotification = { places: [[startMs, "1"]] };

test("nothing is called complete while it is still being read", async () => {
  const { next, begin, notify, pass, log, stop } = follow();
  await begin();
  pass(20_000);
  notify(place);
  Object.assign(log, { notified: [row(1, startMs + 20_000)], takesMs: 30_000 });
  expect(await next()).toBe("line 1");
  // As of the notification, however long the read took.
  expect(await next()).toBe(completeAt(20_000));
  const last = next();
  stop();
  expect(await last).toBe("the end");
});

test("an entry that was added to a run is not sent again when the run ends after minutes", async () => {
  const { next, begin, notify, pass, log, stop } = follow();
  await begin();
  const added = row(1, startMs, { invocation_id: run });
  notify(place);
  log.notified = [added];
  expect(await next()).toBe("line 1");
  for (const id of [2, 3]) {
    pass(180_000);
    notify(place);
    log.notified = [row(id, startMs + 180_000)];
    expect(await next()).toBe(`line ${id}`);
    expect(await next()).toMatch("complete until");
  }
  notify({ run });
  log.notified = [added, row(4, startMs + 360_000, { invocation_id: run })];
  expect(await next()).toBe("line 4");
  stop();
});

test("reading stops when the client leaves, even if nothing matches, and a client that goes far back waits its turn", async () => {
  const { next, log, stop } = follow({ contains: "nothing" });
  expect(await next()).toBe(completeAt(0));
  log.pages = Array.from({ length: 100 }, (_, page) => [row(page, startMs - 9000 + page)]);
  for (let page = 0; page < 6; page++) expect(await next()).toBe(completeAt(page - 9000));
  expect(log).toMatchObject({ reads: 6, turns: 2 });
  stop();
  expect(await next()).toBe("the end");
  expect(log.reads).toBe(6);
});

test("an entry that was written while the follower came is sent, and before later ones", async () => {
  const at = (ms: number) => new Date(startMs + ms);
  const logReader = { readTimesSince: async () => [-5, -1, 0, 3].map((ms) => ({ id: String(ms), at: at(ms) })) };
  const { known } = await startFollowing({ logReader, now: () => startMs }, filter, undefined);
  expect(known).toEqual(["-5", "-1"]);
});
