import { describe, expect, test } from "vitest";
import { chooseSigningKey, createKeyPair } from "./signing-key.ts";

const pair = createKeyPair();
const key = (keyId: string, signsFromMs: number, retiresAtMs: number | null = null) => ({
  ...pair,
  keyId,
  signsFromMs,
  retiresAtMs,
});

describe("the key to sign with", () => {
  const choose = (keys: readonly ReturnType<typeof key>[], nowMs: number) => chooseSigningKey(keys, nowMs)?.keyId;

  test("is the newest whose time has come", () => {
    const keys = [key("old", 0, 7200), key("new", 3600)];
    expect([choose(keys, 3599), choose(keys, 3600), choose(keys, 9000)]).toEqual(["old", "new", "new"]);
  });

  test("is not one that has retired, even if a second rotation overtook the first", () => {
    const keys = [key("first", 0, 3900), key("second", 3600, 3900), key("third", 2100)];
    expect([choose(keys, 2200), choose(keys, 3700), choose(keys, 3900)]).toEqual(["third", "second", "third"]);
  });

  test("is the nearest one if none fits", () => {
    expect(choose([key("ahead", 100), key("further", 200)], 50)).toBe("ahead");
    expect(choose([key("retired", 0, 10), key("ahead", 100)], 50)).toBe("retired");
    expect(choose([], 50)).toBeUndefined();
  });
});
