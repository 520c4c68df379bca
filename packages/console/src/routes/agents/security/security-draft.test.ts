import { expect, test } from "vitest";
import { draftOf, isChangedSince, patchOf } from "./security-draft.ts";

const began = { security: { rateLimit: { enabled: true, requests: 60, window: "1m" } }, auth: null };
const listed = { ...began, security: { ...began.security, ipWhitelist: { enabled: true, addresses: ["10.0.0.1"] } } };

test("a setting that another user switched on meanwhile is noticed, and is not a change of this form", () => {
  const draft = { ...draftOf(began), enforceHttps: true };
  expect(isChangedSince(began, listed)).toBe(true);
  expect(patchOf(began, draft)).toEqual({ security: { enforceHttps: true } });
});

test("the same settings, read again, are not a change", () => {
  expect(isChangedSince(began, structuredClone(began))).toBe(false);
});

test("a new requirement of a user's token is a change", () => {
  expect(isChangedSince(began, { ...began, auth: { type: "jwt" } as never })).toBe(true);
});
