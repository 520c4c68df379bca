import { expect, test } from "vitest";
import { isInRange } from "./address-range.ts";
import { type Here, lockOutReasons } from "./lock-out.ts";

const here: Here = { address: "203.0.113.7", isHttps: true, isPerson: false, hasSecondFactor: true };
const none = { setsAuth: false };
const list = (...addresses: string[]) => ({ ipWhitelist: { enabled: true, addresses } });
const mfa = { mfa: { enabled: true, operations: ["update" as const] } };

test.each([
  ["203.0.113.7", "203.0.113.7", true],
  ["203.0.113.7", "203.0.113.0/24", true],
  ["203.0.113.7", "203.0.112.0/24", false],
  ["203.0.113.7", "0.0.0.0/0", true],
  ["::ffff:203.0.113.7", "203.0.113.0/24", true],
  ["203.0.113.7", "::/0", false],
  ["2001:db8::1", "2001:db8::/32", true],
  ["2001:db8::1", "2001:db9::/32", false],
  ["::1", "::1", true],
  ["203.0.113.7", "203.0.113.0/33", false],
  ["203.0.113.7", "nonsense", false],
] as const)("%s is in %s: %s", (address, range, isIn) => {
  expect(isInRange(address, range)).toBe(isIn);
});

test.each([
  ["settings that demand nothing", {}, none, here],
  ["a list with the own address", list("203.0.113.0/24"), none, here],
  ["a list that is off", { ipWhitelist: { enabled: false, addresses: [] } }, none, here],
  ["a list, where the own address is not known", list("10.0.0.1"), none, { ...here, address: undefined }],
  ["HTTPS, on a page over HTTPS", { enforceHttps: true }, none, here],
  ["a second factor that the key has", mfa, none, here],
] as const)("nothing is said about %s", (_, security, changes, where) => {
  expect(lockOutReasons(security as never, changes, where)).toEqual([]);
});

test.each([
  ["a list without the own address", list("10.0.0.1"), none, here, /Your address 203\.0\.113\.7 is not in the list/],
  ["an empty list", list(), none, here, /refuses every caller/],
  ["HTTPS, on a page over HTTP", { enforceHttps: true }, none, { ...here, isHttps: false }, /plain HTTP/],
  [
    "certificates",
    { mtls: { enabled: true, caCert: "a", clientCert: "b", clientKey: "c" } },
    none,
    here,
    /client certificate/,
  ],
  ["a user's token", {}, { setsAuth: true }, here, /no user's token.*For one hour/],
  ["a user's token, set by a person", {}, { setsAuth: true }, { ...here, isPerson: true }, /agent\.$/],
  ["a second factor that the key lacks", mfa, none, { ...here, hasSecondFactor: false }, /Your key has no second/],
  ["a second factor, set by a person", mfa, none, { ...here, isPerson: true }, /signed in as a person/],
] as const)("a warning comes before %s", (_, security, changes, where, sentence) => {
  expect(lockOutReasons(security as never, changes, where)).toEqual([expect.stringMatching(sentence)]);
});
