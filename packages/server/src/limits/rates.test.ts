import { expect, test } from "vitest";
import { addressOwner, agentRate, consoleBucket, organisationBucket } from "./rates.ts";

test("tiers are those of the specification", () => {
  expect(organisationBucket("free").rate).toEqual({ capacity: 100, intervalMs: 1000 });
  expect(organisationBucket("pro").rate).toEqual({ capacity: 2000, intervalMs: 60 });
  expect(organisationBucket("enterprise").rate).toEqual({ capacity: 20_000, intervalMs: 6 });
});

test("what people read in the console has a limit of its own, with room for some pages in every tier", () => {
  expect(consoleBucket("free")).toEqual({ key: "console", rate: { capacity: 600, intervalMs: 100 } });
  expect(consoleBucket("pro").rate).toEqual({ capacity: 1000, intervalMs: 60 });
});

test.each([
  ["30s", 3, { capacity: 3, intervalMs: 10_000 }],
  ["1m", 60, { capacity: 60, intervalMs: 1000 }],
  ["2h", 1, { capacity: 1, intervalMs: 7_200_000 }],
  ["1d", 24, { capacity: 24, intervalMs: 3_600_000 }],
])("%s allows %i", (window, requests, rate) => {
  expect(agentRate({ rateLimit: { enabled: true, requests, window } })).toEqual(rate);
  expect(agentRate({ rateLimit: { enabled: false, requests, window } })).toBeUndefined();
});

test("an agent without settings has no limit", () => expect(agentRate({})).toBeUndefined());

test.each([
  ["192.0.2.7", "address 192.0.2.7"],
  ["::ffff:192.0.2.7", "address 192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "address 2001:db8:1:2"],
  ["2001:db8:1:2::9", "address 2001:db8:1:2"],
  ["2001:0db8:0001:0002::", "address 2001:db8:1:2"],
  ["::1", "address 0:0:0:0"],
  ["fe80::1", "address fe80:0:0:0"],
  [undefined, "address gone"], // the client has gone
])("%s counts as %s", (ip, owner) => expect(addressOwner(ip)).toBe(owner));
