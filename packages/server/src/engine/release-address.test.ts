import { expect, test } from "vitest";
import { addressOf, parseAddress, pathWithin } from "./release-address.ts";

test("an address is parsed to what it was made from, also one that was moved, and below a path", () => {
  for (const workerUrl of ["http://127.0.0.1:7401", "https://workers.example/perch"]) {
    const address = { workerUrl, release: "0.2.0-rc.1", turn: 12 };
    expect(parseAddress(addressOf(address))).toEqual(address);
    expect(parseAddress(`${addressOf(address)}/`)).toEqual(address);
    expect(parseAddress(addressOf(address, "dp_16C8TpVV"))).toEqual(address);
  }
  expect(parseAddress("http://127.0.0.1:7401/")).toBeUndefined();
});

test("only requests for the release itself are its own, in whichever turn", () => {
  expect(pathWithin("0.2.0", "/releases/0.2.0/1/discover")).toBe("/discover");
  expect(pathWithin("0.2.0", "/releases/0.2.0/3-dp_1/invoke/AgentRuns/run")).toBe("/invoke/AgentRuns/run");
  expect(pathWithin("0.2.0", "/perch/releases/0.2.0/3/discover")).toBe("/discover");
  for (const path of [
    "/discover",
    "/releases/0.2.1/1/discover",
    "/releases/0.2.0/discover",
    "/releases/x0.2.0/1/discover",
  ])
    expect(pathWithin("0.2.0", path)).toBeUndefined();
});
