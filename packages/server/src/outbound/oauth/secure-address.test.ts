import { describe, expect, test } from "vitest";
import { parseLinkedAddress, parseSecureAddress } from "./secure-address.ts";

describe("tokens and codes travel", () => {
  test.each(["https://as.example/x?y=1", "http://127.0.0.1:8080/x", "http://localhost/x", "http://[::1]:1/x"])(
    "to %s",
    (address) => expect(parseSecureAddress(address)?.href).toBe(address),
  );

  test.each([
    ...["http://as.example", "http://127.0.0.2", "http://localhost.evil.example", "http://127.0.0.1.evil.example"],
    ...["https://ada@as.example", "https://as.example/#x", "ftp://as.example", "javascript:alert(1)", "as.example", ""],
    `https://as.example/${"x".repeat(2048)}`,
    ...[undefined, null, 7, ["https://as.example"]],
  ])("not to %j", (address) => expect(parseSecureAddress(address)).toBeUndefined());
});

test("what is encrypted leads to nothing that is not, even on the own machine", () => {
  expect(parseLinkedAddress("http://127.0.0.1/token", "https://as.example")).toBeUndefined();
  expect(parseLinkedAddress("http://127.0.0.1/token", "http://127.0.0.1")).toBeDefined();
  expect(parseLinkedAddress("https://as.example/token", "http://127.0.0.1")).toBeDefined();
});
