import { expect, test } from "vitest";
import { hostsOf, newHosts, toUpdate } from "./hosts.ts";

test("hosts stand on lines of their own; blank lines and spaces do not count", () => {
  expect(hostsOf(" api.github.com \n\n  tools.example:8443\r\n")).toEqual(["api.github.com", "tools.example:8443"]);
  expect(hostsOf(" \n ")).toEqual([]);
});

test("a host is new if the secret was not sent to it before", () => {
  expect(newHosts(["api.github.com"], "api.github.com\ngitlab.com")).toEqual(["gitlab.com"]);
  expect(newHosts(["api.github.com", "gitlab.com"], "gitlab.com")).toEqual([]);
});

test("a new value is saved without the hosts, unless they were changed", () => {
  const before = ["api.github.com", "gitlab.com"];
  expect(toUpdate(before, "api.github.com\ngitlab.com\n", "new-token")).toEqual({ value: "new-token" });
  expect(toUpdate(before, "gitlab.com", "")).toEqual({ hosts: ["gitlab.com"] });
});
