import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { chooseNext, mayBeSent } from "./token-rules.ts";

const readAt = new Date("2026-06-01T12:00:00Z");
const inSeconds = (seconds: number) => new Date(readAt.getTime() + seconds * 1000);

interface Given {
  /** From now on; null if the provider did not report it. */
  readonly ends?: number | null;
  readonly claimed?: number;
  readonly refreshed?: number;
}

const row = ({ ends = 3600, claimed, refreshed }: Given) => ({
  read_at: readAt,
  generation: 7,
  access_expires_at: ends === null ? null : inSeconds(ends),
  refresh_claimed_until: claimed === undefined ? null : inSeconds(claimed),
  last_refreshed_at: refreshed === undefined ? null : inSeconds(-refreshed),
});

const next = (given: Given, options: { canRefresh?: boolean; rejectedGeneration?: number } = {}) =>
  chooseNext(row(given), { canRefresh: true, ...options });

describe("what is done with the tokens of a connection", () => {
  test("they are refreshed when they are used within five minutes of their end, and not before", () => {
    verifies("connections.refresh");
    expect(next({ ends: 301 })).toBe("use");
    expect(next({ ends: 300 })).toBe("replace");
    expect(next({ ends: null })).toBe("use");
    expect(next({ ends: 200 }, { canRefresh: false })).toBe("use");
  });

  test("tokens that live for minutes are refreshed once a minute, until they are about to end", () => {
    expect(next({ ends: 240, refreshed: 59 })).toBe("use");
    expect(next({ ends: 240, refreshed: 60 })).toBe("replace");
    expect(next({ ends: 30, refreshed: 5 })).toBe("replace");
  });

  test("while one worker refreshes them, others use them as long as they are valid", () => {
    verifies("connections.refresh");
    expect(next({ ends: 200, claimed: 10 })).toBe("use");
    expect(next({ ends: 200, claimed: 0 })).toBe("replace");
    expect(next({ ends: 1, claimed: 10 })).toBe("replace");
  });

  test("a token that has ended, or ends on its way, is never used", () => {
    verifies("connections.refresh");
    for (const ends of [-3600, 0, 1]) {
      expect(next({ ends, refreshed: 1 })).toBe("replace");
      expect(next({ ends }, { canRefresh: false })).toBe("replace");
      expect(mayBeSent(row({ ends }), undefined)).toBe(false);
    }
    expect(mayBeSent(row({ ends: 2 }), undefined)).toBe(true);
  });

  test("a token that the tool refused is replaced, unless it is a newer one, or one of a moment ago", () => {
    verifies("connections.refresh");
    expect(next({}, { rejectedGeneration: 7 })).toBe("replace");
    expect(next({}, { rejectedGeneration: 6 })).toBe("use");
    expect(next({ refreshed: 29 }, { rejectedGeneration: 7 })).toBe("use");
    expect(next({ refreshed: 30 }, { rejectedGeneration: 7 })).toBe("replace");
    expect(next({}, { rejectedGeneration: 7, canRefresh: false })).toBe("replace");
    expect(mayBeSent(row({}), 7)).toBe(false);
    expect(mayBeSent(row({}), 6)).toBe(true);
  });
});
