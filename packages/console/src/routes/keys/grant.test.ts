import { expect, test } from "vitest";
import { lifetimesUntil, toExpiresAt } from "./expiry-choice.ts";
import { isSameAccess, mayGive, toGrant } from "./grant.ts";

test("a request has either a role or permissions, in the order of the API", () => {
  expect(toGrant({ role: "viewer", permissions: ["manage"] })).toEqual({ role: "viewer" });
  expect(toGrant({ role: "own", permissions: ["approve", "read"] })).toEqual({ permissions: ["read", "approve"] });
});

test("the same permissions in another order are not a change; a role is not the same as its permissions", () => {
  expect(
    isSameAccess({ role: "own", permissions: ["read", "write"] }, { role: "own", permissions: ["write", "read"] }),
  ).toBe(true);
  expect(isSameAccess({ role: "viewer", permissions: ["read"] }, { role: "own", permissions: ["read"] })).toBe(false);
});

test("only the caller's own permissions are offered, approve to callers with manage unless that is forbidden, and invoke to those with write", () => {
  expect(mayGive({ permissions: ["read", "manage"] }, "approve", true)).toBe(true);
  expect(mayGive({ permissions: ["read", "manage"] }, "delete", true)).toBe(false);
  expect(mayGive({ permissions: ["write", "manage"] }, "invoke", true)).toBe(true);
  expect(mayGive({ permissions: ["read", "manage"] }, "invoke", true)).toBe(false);
  expect(mayGive({ permissions: ["read", "manage"] }, "approve", false)).toBe(false);
  expect(mayGive({ permissions: ["manage", "approve"] }, "approve", false)).toBe(true);
});

const now = new Date("2026-04-17T12:00:00Z");

test("an expiry is left out if it stays, null if there is none, and a time otherwise", () => {
  expect(toExpiresAt({ choice: "keep", at: "" }, now)).toBeUndefined();
  expect(toExpiresAt({ choice: "never", at: "" }, now)).toBeNull();
  expect(toExpiresAt({ choice: "7", at: "" }, now)).toBe("2026-04-24T12:00:00.000Z");
  expect(toExpiresAt({ choice: "at", at: "2026-05-01T10:00:00Z" }, now)).toBe("2026-05-01T10:00:00.000Z");
  expect(toExpiresAt({ choice: "at", at: "" }, now)).toBe("");
});

test("no lifetime is offered that is longer than the caller's own", () => {
  expect(lifetimesUntil(null, now)).toHaveLength(4);
  expect(lifetimesUntil("2026-06-01T00:00:00Z", now)).toEqual(["7", "30"]);
});
