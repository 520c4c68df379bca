import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { consentCookie, createConnectionTokens, sentConsentCookie } from "./connection-token.ts";

const key = randomBytes(32);
const { links, states } = createConnectionTokens(() => key);
const consent = { organisationId: newUuid(), connectionId: newUuid() };

describe("a token of a consent", () => {
  test("names its organisation and connection, and is another one each time", () => {
    const token = links.create(consent);
    expect(links.open(token)).toEqual(consent);
    expect(token).toMatch(/^[\w-]{128}$/);
    expect(links.create(consent)).not.toBe(token);
  });

  test("counts for its own step, and under its own key", () => {
    expect(states.open(links.create(consent))).toBeUndefined();
    expect(links.open(states.create(consent))).toBeUndefined();
    expect(createConnectionTokens(() => randomBytes(32)).links.open(links.create(consent))).toBeUndefined();
  });

  test("is nothing with any bit changed", () => {
    const bytes = Buffer.from(states.create(consent), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(states.open(changed.toString("base64url"))).toBeUndefined();
    }
  });
});

describe("the cookie of a consent", () => {
  test("is only for this host and HTTPS, and no script can read it", () => {
    expect(consentCookie("x", "value", true)).toBe(
      "__Host-perch_connect_x=value; Path=/; HttpOnly; SameSite=Lax; Max-Age=600; Secure",
    );
    expect(consentCookie("x", undefined, false)).toBe("perch_connect_x=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
  });

  test("is read for its own connection, with the prefix on HTTPS, and not if there are two", () => {
    const sent =
      "a=b; __Host-perch_connect_x=1; perch_connect_x=2; __Host-perch_connect_y=3; perch_connect_z=4; perch_connect_z=5";
    expect(sentConsentCookie(sent, "x", true)).toBe("1");
    expect(sentConsentCookie(sent, "x", false)).toBe("2");
    expect(sentConsentCookie(sent, "y", true)).toBe("3");
    expect(sentConsentCookie(sent, "y", false)).toBeUndefined();
    expect(sentConsentCookie(sent, "z", false)).toBeUndefined();
  });
});
