import { describe, expect, test } from "vitest";
import { createAddressGuard } from "./address-guard.ts";
import { createOwnAddresses } from "./own-addresses.ts";

const interfaceAddresses = () => ["127.0.0.1", "::1", "10.0.0.7", "fd12::7"];
const literal = createOwnAddresses(
  [
    { host: "127.0.0.1", port: 5432 },
    { host: "10.0.0.9", port: 8080 },
    { host: "203.0.113.9", port: 6379 },
    { host: "0.0.0.0", port: 7401 },
    { host: "[fd12::9]", port: 9070 },
  ],
  { interfaceAddresses },
);

describe("own addresses", () => {
  test.each([
    ["10.0.0.9", 8080],
    ["::ffff:10.0.0.9", 8080],
    ["::ffff:a00:9", 8080],
    ["64:ff9b::a00:9", 8080],
    ["2002:a00:9::1", 8080],
    ["203.0.113.9", 6379],
    ["fd12::9", 9070],
    ["fd12:0:0:0:0:0:0:9", 9070],
  ])("%s at port %d is one, in every spelling", (address, port) => {
    expect(literal.includes(address, port)).toBe(true);
    expect(literal.includes(address, port + 1)).toBe(false);
  });

  test.each(["127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "10.0.0.7", "fd12::7", "::ffff:127.0.0.1"])(
    "a service of this machine is one at every address of the machine: %s",
    (address) => {
      expect([5432, 7401].map((port) => literal.includes(address, port))).toEqual([true, true]);
      expect(literal.includes(address, 8080)).toBe(false);
    },
  );

  test.each([
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "metadata.google.internal",
    "METADATA.google.internal.",
  ])("the metadata service %s counts at every port", (host) => {
    for (const port of [80, 443, 8080, 1]) expect(literal.includes(host, port)).toBe(true);
  });

  test("every port of an engine's host is one, unless the engine runs on this machine", () => {
    const own = createOwnAddresses(
      ["10.0.0.9", "203.0.113.9", "127.0.0.1"].map((host) => ({ host, port: "every" as const })),
      { interfaceAddresses },
    );
    for (const host of ["10.0.0.9", "::ffff:10.0.0.9", "203.0.113.9"])
      for (const port of [80, 5122, 65_535]) expect([host, own.includes(host, port)]).toEqual([host, true]);
    for (const host of ["127.0.0.1", "10.0.0.7", "10.0.0.8"])
      expect([host, own.includes(host, 5122)]).toEqual([host, false]);
  });

  test("the public URL is one by its name and its private addresses, not where a public address may be shared", async () => {
    const addresses = ["10.0.0.9", "8.8.8.8", "10.0.0.7"].map((address) => ({ address }));
    const own = createOwnAddresses([{ host: "perch.example", port: 443, mayShareAddress: true }], {
      interfaceAddresses,
      resolve: async () => addresses,
    });
    await own.refresh();
    for (const host of ["perch.example", "PERCH.example.", "10.0.0.9", "::ffff:10.0.0.9", "127.0.0.1"])
      expect([host, own.includes(host, 443)]).toEqual([host, true]);
    for (const host of ["8.8.8.8", "other.example"]) expect([host, own.includes(host, 443)]).toEqual([host, false]);
    expect(own.includes("perch.example", 80)).toBe(false);
  });

  test("are refused by the guard although everything is allowed; their neighbours are not", () => {
    const guard = createAddressGuard(["0.0.0.0/0", "::/0"], literal);
    expect(guard("10.0.0.9", 8080)).toBe(false);
    expect(guard("127.0.0.1", 5432)).toBe(false);
    expect(guard("169.254.169.254", 80)).toBe(false);
    expect([guard("10.0.0.9", 8081), guard("10.0.0.10", 8080), guard("127.0.0.1", 9000)]).toEqual([true, true, true]);
  });

  test("include a port that is bound later", () => {
    const own = createOwnAddresses([], { interfaceAddresses });
    expect(own.includes("127.0.0.1", 7400)).toBe(false);
    own.add({ host: "127.0.0.1", port: 7400 });
    expect(own.includes("127.0.0.1", 7400)).toBe(true);
  });
});

describe("a service with a name", () => {
  /** A clock and a name server that the test moves on. */
  function createNamed() {
    const state = { nowMs: 0, addresses: ["10.0.0.1"], asked: 0, fails: false };
    const own = createOwnAddresses([{ host: "db.internal", port: 5432 }], {
      interfaceAddresses,
      now: () => state.nowMs,
      resolve: async () => {
        state.asked++;
        if (state.fails) throw new Error("ENOTFOUND");
        return state.addresses.map((address) => ({ address }));
      },
    });
    return { state, own };
  }

  test("counts by its name, and by the addresses that it resolves to", async () => {
    const { own } = createNamed();
    await own.refresh();
    for (const host of ["db.internal", "DB.internal.", "10.0.0.1"]) expect(own.includes(host, 5432)).toBe(true);
    expect([own.includes("10.0.0.2", 5432), own.includes("10.0.0.1", 80)]).toEqual([false, false]);
  });

  test("is resolved again after ten seconds; addresses that it had count for ten minutes more", async () => {
    const { state, own } = createNamed();
    await Promise.all([own.refresh(), own.refresh()]);
    await own.refresh();
    expect(state.asked).toBe(1);
    Object.assign(state, { nowMs: 10_000, addresses: ["10.0.0.2"] });
    await own.refresh();
    expect(state.asked).toBe(2);
    expect(["10.0.0.1", "10.0.0.2"].map((address) => own.includes(address, 5432))).toEqual([true, true]);
    state.nowMs = 700_000;
    await own.refresh();
    expect(["10.0.0.1", "10.0.0.2"].map((address) => own.includes(address, 5432))).toEqual([false, true]);
  });

  test("keeps its addresses while the name server does not answer", async () => {
    const { state, own } = createNamed();
    await own.refresh();
    Object.assign(state, { nowMs: 3_600_000, fails: true });
    await own.refresh();
    expect(own.includes("10.0.0.1", 5432)).toBe(true);
  });

  test("that was never resolved closes its port at every private address, and at no public one", async () => {
    const { state, own } = createNamed();
    state.fails = true;
    await own.refresh();
    expect(["10.0.0.1", "127.0.0.1", "fd12::1"].map((address) => own.includes(address, 5432))).toEqual([
      true,
      true,
      true,
    ]);
    expect([own.includes("8.8.8.8", 5432), own.includes("10.0.0.1", 80)]).toEqual([false, false]);
    Object.assign(state, { nowMs: 10_000, fails: false });
    await own.refresh();
    expect([own.includes("10.0.0.1", 5432), own.includes("10.0.0.2", 5432)]).toEqual([true, false]);
  });

  test("does not hold a call up for longer than two seconds", async () => {
    let asked = 0;
    const own = createOwnAddresses([{ host: "db.internal", port: 5432 }], {
      resolve: () => {
        asked++;
        return new Promise(() => {});
      },
    });
    const startedAt = performance.now();
    await own.refresh();
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(own.includes("10.0.0.1", 5432)).toBe(true);
    await own.refresh();
    expect(asked).toBe(1);
  });
});
