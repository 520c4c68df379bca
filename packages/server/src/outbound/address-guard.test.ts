import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { createAddressGuard } from "./address-guard.ts";

/** Addresses by the class that makes them forbidden. */
const forbidden = {
  loopback: ["127.0.0.1", "127.255.255.254", "::1"],
  private: ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
  linkLocal: ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fe80::1%eth0.1"],
  uniqueLocal: ["fc00::1", "fd00:ec2::254"],
  siteLocal: ["fec0::1"],
  carrierGradeNat: ["100.64.0.1", "100.127.255.255"],
  unspecified: ["0.0.0.0", "0.1.2.3", "::"],
  broadcast: ["255.255.255.255"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1"],
  reserved: ["192.0.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "240.0.0.1", "2001:db8::1", "3fff::1"],
  benchmarking: ["198.18.0.1", "2001:2::1"],
  mapped: ["::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::ffff:10.0.0.1"],
  compatible: ["::127.0.0.1", "::a00:1"],
  translated: ["::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1"],
  "6to4": ["2002:7f00:1::1"],
  teredo: ["2001::1"],
  discard: ["100::1"],
  unassigned: ["4000::1", "e000::1"],
  azurePlatform: ["168.63.129.16", "::ffff:168.63.129.16"],
  unparsable: ["", "localhost", "127.0.0.1:80", "[::1]", "1.2.3.4.5", "256.0.0.1"],
};

describe("createAddressGuard", () => {
  const guard = createAddressGuard([]);

  test.each(Object.entries(forbidden))("refuses %s addresses", (_, addresses) => {
    verifies("outbound.guarded");
    expect(addresses.filter(guard)).toEqual([]);
  });

  test("allows public addresses, including IPv4-mapped ones", () => {
    verifies("outbound.guarded");
    const publicAddresses = ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1", "::ffff:8.8.8.8"];
    expect(publicAddresses.filter(guard)).toEqual(publicAddresses);
  });

  test.each([
    ["10.1.0.0/16", ["10.1.0.1", "10.1.255.255", "::ffff:10.1.2.3"], ["10.2.0.1", "127.0.0.1", "::1"]],
    ["127.0.0.1", ["127.0.0.1", "::ffff:7f00:1"], ["127.0.0.2", "::1"]],
    ["::1", ["::1"], ["127.0.0.1", "::", "::2"]],
    ["fd00::/8", ["fd12::1"], ["fc00::1", "10.0.0.1"]],
    ["::ffff:10.0.0.0/104", ["10.9.9.9"], ["11.0.0.1%x", "127.0.0.1"]],
  ])("allowing %s allows that range and nothing else", (range, allowed, refused) => {
    verifies("outbound.guarded");
    const guardWithRange = createAddressGuard([range]);
    expect(allowed.filter(guardWithRange)).toEqual(allowed);
    expect(refused.filter(guardWithRange)).toEqual([]);
  });

  test.each([
    "",
    "10",
    "010.0.0.1",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "::1/129",
    "example.com",
    "10.0.0.0-10.0.0.9",
  ])("rejects the invalid range %j", (range) => {
    expect(() => createAddressGuard([range])).toThrow("is neither an address nor a CIDR range");
  });
});
