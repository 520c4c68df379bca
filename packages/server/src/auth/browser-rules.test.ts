import { describe, expect, test } from "vitest";
import { refuseReadableCookies } from "./browser-rules.ts";

const local = { isHttps: false, host: "127.0.0.1:7400" };
const site = "https://perch.example";

describe("a session's cookie is set", () => {
  test.each([
    ["over HTTPS", { isHttps: true, host: "perch.example", origin: site }, site],
    ["on the machine itself", { ...local, origin: "http://127.0.0.1:7400" }, undefined],
    [
      "for a page on the machine itself of a server that also has a site",
      { ...local, origin: `http://${local.host}` },
      site,
    ],
    ["for a program on the machine itself", { ...local, origin: undefined }, undefined],
  ])("%s", (_, facts, publicUrl) => {
    expect(() => refuseReadableCookies(facts, publicUrl)).not.toThrow();
  });
});

describe("a session's cookie is never set without `Secure` for a site with HTTPS:", () => {
  test.each([
    ["a page behind a proxy that is not trusted and rewrites `Host`", { ...local, origin: site }, site],
    ["the same, where the operator set no address", { ...local, origin: site }, undefined],
    ["a navigation, which has no `Origin`", { ...local, origin: undefined }, site],
    ["a name that is not the machine itself", { isHttps: false, host: "perch.example", origin: undefined }, undefined],
  ])("%s", (_, facts, publicUrl) => {
    expect(() => refuseReadableCookies(facts, publicUrl)).toThrow("PERCH_TRUSTED_PROXIES");
  });
});
