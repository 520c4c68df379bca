import { expect, test } from "vitest";
import { roles } from "../grant.ts";
import { ownKeyWarnings } from "./own-key-warnings.ts";

const keep = { choice: "keep", at: "" };
const admin = { role: "admin", permissions: roles.admin } as const;

test("a user who removes permissions of their own key that they cannot restore is warned", () => {
  expect(ownKeyWarnings(roles.admin, { role: "developer", permissions: roles.developer }, keep, true)).toEqual([
    "You lose delete and manage, and cannot give this back to yourself.",
  ]);
  expect(ownKeyWarnings(["read", "manage"], { role: "own", permissions: ["manage"] }, keep, true)).toEqual([
    "You lose read, and cannot give this back to yourself.",
  ]);
});

test("approve can be restored as long as manage is left", () => {
  expect(ownKeyWarnings([...roles.admin, "approve"], admin, keep, true)).toEqual([]);
  expect(ownKeyWarnings(["manage", "approve"], { role: "viewer", permissions: ["read"] }, keep, true)).toEqual([
    "You lose manage and approve, and cannot give this back to yourself.",
  ]);
});

test("approve cannot be restored in an organisation in which manage does not give it", () => {
  expect(ownKeyWarnings([...roles.admin, "approve"], admin, keep, false)).toEqual([
    "You lose approve, and cannot give this back to yourself.",
  ]);
});

test("an expiry ends the session, and no expiry does not", () => {
  expect(ownKeyWarnings(roles.admin, admin, { choice: "7", at: "" }, true)).toEqual([
    "Your session ends when the key expires.",
  ]);
  expect(ownKeyWarnings(roles.admin, admin, { choice: "never", at: "" }, true)).toEqual([]);
});
