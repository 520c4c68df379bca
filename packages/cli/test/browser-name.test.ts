import { expect, test } from "vitest";
import { browserName } from "../src/output/browser-name.ts";

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

test.each([
  [chrome, "Chrome on Linux"],
  [`${chrome} Edg/140.0`, "Edge on Linux"],
  ["Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox on Android"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605 Version/18.0 Safari/605", "Safari on macOS"],
  ["curl/8.5.0", "curl/8.5.0"],
  ["x".repeat(500), "x".repeat(60)],
  [null, "-"],
])("the browser that calls itself %s is listed as %s", (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
