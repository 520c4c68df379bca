import { describe, expect, test } from "vitest";
import { logSettingOf } from "./log-setting.ts";

describe("how much of its runs an agent shows", () => {
  test("is set in its definition", () => {
    for (const logs of ["off", "shapes", "full"] as const) expect(logSettingOf({ logs })).toBe(logs);
  });

  test("of definitions that were stored before is full if they logged messages, else shapes", () => {
    expect(logSettingOf({ logs: { messages: true } })).toBe("full");
    expect(logSettingOf({ logs: { messages: false } })).toBe("shapes");
    expect(logSettingOf({})).toBe("shapes");
    expect(logSettingOf({ logs: "everything" })).toBe("shapes");
  });

  test("is still off after a node of the earlier release changed another field", () => {
    const merged: object = { ...Object("off") };
    expect(logSettingOf({ logs: merged })).toBe("off");
    expect(logSettingOf({ logs: { ...merged, messages: true } })).toBe("full");
    expect(logSettingOf({ logs: {} })).toBe("shapes");
  });

  test("is full in development, unless the agent says off", () => {
    expect(logSettingOf({ logs: "shapes" }, "full")).toBe("full");
    expect(logSettingOf({}, "full")).toBe("full");
    expect(logSettingOf({ logs: "off" }, "full")).toBe("off");
  });
});
