import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newUuid } from "../../platform/ids.ts";
import { createApprovalLinks, linkGeneration } from "./approval-link.ts";

const key = randomBytes(32);
const links = createApprovalLinks(() => key);
const expiresAt = new Date("2026-03-04T05:06:07.089Z");
const before = new Date("2026-03-04T05:06:07.088Z");
const link = {
  organisationId: newUuid(),
  approvalId: newUuid(),
  webhookId: newUuid(),
  expiresAt,
  generation: linkGeneration(randomBytes(60), "https://hooks.example"),
};
const token = links.tokenOf(link);

describe("a token of a link", () => {
  test("gives back what it binds, and is the same each time", () => {
    expect(links.open(token, before)).toEqual(link);
    expect(links.tokenOf({ ...link })).toBe(token);
    expect(token).toMatch(/^[\w-]{128}$/);
  });

  test("is nothing from the moment at which its approval expires", () => {
    expect(links.open(token, expiresAt)).toBeUndefined();
  });

  test("is nothing with any bit changed", () => {
    const bytes = Buffer.from(token, "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(links.open(changed.toString("base64url"), new Date(0))).toBeUndefined();
    }
  });

  test("has one spelling: nothing is ignored, cut off or added", () => {
    const others = [`${token}=`, ` ${token}`, `${token}\n`, token.slice(0, -1), `${token}A`, ""];
    for (const other of others) expect(links.open(other, before)).toBeUndefined();
    const standard = Buffer.from(token, "base64url").toString("base64");
    if (standard !== token) expect(links.open(standard, before)).toBeUndefined();
  });

  test("of another key is nothing", () => {
    expect(createApprovalLinks(() => randomBytes(32)).open(token, before)).toBeUndefined();
  });

  test("differs with each thing that it binds", () => {
    const others = [
      { ...link, organisationId: newUuid() },
      { ...link, approvalId: newUuid() },
      { ...link, webhookId: newUuid() },
      { ...link, expiresAt: before },
      { ...link, generation: linkGeneration(Buffer.from("another secret"), "https://hooks.example") },
    ];
    const tokens = others.map((other) => links.tokenOf(other));
    expect(new Set([token, ...tokens]).size).toBe(others.length + 1);
  });
});
