import { AgentId, type IdKind, idPrefixes, KeyId, OrganisationId } from "@perch/contract";
import { afterEach, describe, expect, test, vi } from "vitest";
import { newPublicId, newUuid, parsePublicId, toPublicId, uuidTime } from "./ids.ts";

const kinds = Object.keys(idPrefixes) as IdKind[];
// The example of the TypeID specification.
const uuid = "01890a5d-ac96-774b-bcce-b302099a8057";
const suffix = "01h455vb4pex5vsknk084sn02q";

afterEach(() => {
  vi.useRealTimers();
});

describe("newUuid", () => {
  test("is a UUIDv7, new each time, that sorts by the time it was made", async () => {
    const first = newUuid();
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const timeMs = Number.parseInt(first.replaceAll("-", "").slice(0, 12), 16);
    expect(Math.abs(Date.now() - timeMs)).toBeLessThan(5000);
    expect(new Set(Array.from({ length: 1000 }, newUuid)).size).toBe(1000);
    await new Promise((resolve) => setTimeout(resolve, 3));
    expect(newUuid() > first).toBe(true);
  });

  test("sorts in the order of creation within one millisecond, and while the clock is a little behind", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const uuids = Array.from({ length: 1000 }, newUuid);
    vi.setSystemTime(Date.now() - 9000);
    uuids.push(...Array.from({ length: 1000 }, newUuid));
    vi.setSystemTime(Date.now() + 9001);
    uuids.push(newUuid());
    expect(uuids.toSorted()).toEqual(uuids);
    expect(new Set(uuids).size).toBe(uuids.length);
  });

  test("follows a clock that was set back by more than ten seconds", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    newUuid();
    vi.setSystemTime(Date.now() - 60_000);
    expect(uuidTime(newUuid())).toEqual(new Date());
  });
});

describe("public ids", () => {
  test.each(kinds)(
    "of the kind %s are its prefix and the UUID in base32, and are parsed back to the same UUID",
    (kind) => {
      expect(toPublicId(kind, uuid)).toBe(`${idPrefixes[kind]}_${suffix}`);
      for (const value of [
        uuid,
        newUuid(),
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
      ]) {
        expect(parsePublicId(kind, toPublicId(kind, value))).toBe(value);
      }
    },
  );

  test("are what the contract promises", () => {
    expect(AgentId.safeParse(toPublicId("agent", newUuid())).success).toBe(true);
    expect(KeyId.safeParse(toPublicId("key", newUuid())).success).toBe(true);
    expect(OrganisationId.safeParse(toPublicId("organisation", newUuid())).success).toBe(true);
  });

  test.each(kinds)("that are new, of the kind %s, are a UUIDv7 of this moment, new each time", (kind) => {
    const ids = Array.from({ length: 1000 }, () => newPublicId(kind));
    expect(new Set(ids).size).toBe(1000);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) {
      const parsed = parsePublicId(kind, id) ?? "";
      expect(parsed.charAt(14)).toBe("7");
      expect(Math.abs(Date.now() - uuidTime(parsed).getTime())).toBeLessThan(5000);
    }
  });

  test("are made of UUIDs only", () => {
    for (const text of ["", "bot", `${uuid}0`, uuid.replaceAll("-", ""), uuid.replace("a", "g")])
      expect(() => toPublicId("agent", text)).toThrow("is not a UUID");
  });

  test("of one kind are refused as any other", () => {
    expect(new Set(Object.values(idPrefixes)).size).toBe(kinds.length);
    for (const kind of kinds) {
      for (const other of kinds) {
        expect(parsePublicId(other, toPublicId(kind, uuid))).toBe(kind === other ? uuid : undefined);
      }
    }
  });

  test("sort as their UUIDs do", () => {
    const uuids = [uuid, newUuid(), newUuid(), "00000000-0000-7000-8000-000000000000"].sort();
    const ids = uuids.map((value) => toPublicId("key", value));
    expect(ids.toSorted()).toEqual(ids);
  });
});

describe("parsePublicId", () => {
  test.each([
    ["nothing", ""],
    ["a bare UUID", uuid],
    ["a bare suffix", suffix],
    ["an empty prefix", `_${suffix}`],
    ["two underscores", `agent__${suffix}`],
    ["an upper-case prefix", `AGENT_${suffix}`],
    ["an upper-case suffix", `agent_${suffix.toUpperCase()}`],
    ["a suffix too short", `agent_${suffix.slice(1)}`],
    ["a suffix too long", `agent_${suffix}0`],
    ["more than 128 bits", `agent_8${suffix.slice(1)}`],
    ["all z", `agent_${"z".repeat(26)}`],
    ["the letter i", `agent_${suffix.slice(0, -1)}i`],
    ["the letter l", `agent_${suffix.slice(0, -1)}l`],
    ["the letter o", `agent_${suffix.slice(0, -1)}o`],
    ["the letter u", `agent_${suffix.slice(0, -1)}u`],
    ["a letter beyond ASCII", `agent_${suffix.slice(0, -1)}é`],
    ["a space before", ` agent_${suffix}`],
    ["a line end after", `agent_${suffix}\n`],
    ["128 bits that are no UUID", toPublicId("agent", "01890a5d-ac96-974b-bcce-b302099a8057")],
    ["an agent's name", "support-bot"],
  ])("refuses %s", (_, text) => {
    expect(parsePublicId("agent", text)).toBeUndefined();
  });
});
