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

test("only what was changed is saved", () => {
  const before = { hosts: ["api.github.com", "gitlab.com"], approval: "required" } as const;
  const form = { hosts: "api.github.com\ngitlab.com\n", value: "", isApproved: true };
  const changed = { ...before, hosts: [...before.hosts] };
  expect(toUpdate(changed, form)).toEqual({});
  expect(toUpdate(changed, { ...form, value: "new-token" })).toEqual({ value: "new-token" });
  expect(toUpdate(changed, { ...form, hosts: "gitlab.com" })).toEqual({ hosts: ["gitlab.com"] });
  expect(toUpdate(changed, { ...form, isApproved: false })).toEqual({ approval: null });
  expect(toUpdate({ ...changed, approval: null }, form)).toEqual({ approval: "required" });
});
