import type { ApprovalCondition } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { resolveApproval, whyApprovalNeeded } from "./tool-approval.ts";

const why = (condition: ApprovalCondition, args: unknown) =>
  whyApprovalNeeded(resolveApproval({ when: [condition] }), args);

describe("the policy of a tool in a definition", () => {
  test("no policy, or never, needs no approval, whatever the server declares", () => {
    for (const policy of [undefined, "never"] as const)
      expect(resolveApproval(policy, { destructiveHint: true })).toBeUndefined();
  });

  test("always needs a person, whatever the server declares", () => {
    expect(resolveApproval("always", { readOnlyHint: true })).toMatchObject({ approvers: 1, secondFactor: false });
  });

  test("destructive believes a server that declares otherwise, and counts a tool without a hint as destructive", () => {
    verifies("approvals.policy");
    for (const policy of ["destructive", { when: "destructive" }] as const) {
      expect(resolveApproval(policy, { readOnlyHint: true })).toBeUndefined();
      expect(resolveApproval(policy, { destructiveHint: false })).toBeUndefined();
      expect(resolveApproval(policy)).toBeDefined();
      expect(resolveApproval(policy, { readOnlyHint: false })).toBeDefined();
      expect(resolveApproval(policy, { destructiveHint: true })).toBeDefined();
    }
  });
});

describe("under a floor", () => {
  const floor = "The settings ask.";

  test("no policy lets a call be made without a person", () => {
    verifies("approvals.floor");
    const harmless = { readOnlyHint: true };
    const when = [{ argument: "amount", op: "gt" as const, value: 100 }];
    for (const policy of [undefined, "never", "always", "destructive", { when: "destructive" }, { when }] as const)
      expect(whyApprovalNeeded(resolveApproval(policy, harmless, floor), { amount: 1 })).toBe(floor);
  });

  test("what a policy asks for counts where it is more, also of a tool that is declared harmless", () => {
    const policy = { when: "destructive", approvers: 3, second_factor: true, expires_after_seconds: 60 } as const;
    const more = { approvers: 3, secondFactor: true, expiresAfterSeconds: 60 };
    expect(resolveApproval(policy, { readOnlyHint: true }, floor)).toMatchObject(more);
  });

  test("the invoker may not decide, even if the policy allows it", () => {
    verifies("approvals.floor");
    expect(resolveApproval({ invoker_may_decide: true })).toMatchObject({ invokerMayDecide: true });
    expect(resolveApproval({ invoker_may_decide: true }, {}, floor)).toMatchObject({ invokerMayDecide: false });
  });
});

describe("a condition on an argument", () => {
  test.each([
    ["eq", "de", "de", true],
    ["eq", "de", "fr", false],
    ["ne", "de", "fr", true],
    ["ne", "de", "de", false],
    ["gt", 100, 100.01, true],
    ["gt", 100, 100, false],
    ["gte", 100, 100, true],
    ["lt", 0, -1, true],
    ["lt", 0, 0, false],
    ["lte", 0, 0, true],
    ["in", ["a", 1], 1, true],
    ["in", ["a", 1], "b", false],
    ["not_in", ["a"], "b", true],
    ["not_in", ["a"], "a", false],
  ] as const)("%s %j holds for %j: %s", (op, value, given, expected) => {
    const condition = { argument: "x", op, value } as unknown as ApprovalCondition;
    expect(why(condition, { x: given }) !== undefined).toBe(expected);
  });

  test.each([
    ["missing", {}],
    ["of another type", { amount: "5" }],
    ["null", { amount: null }],
    ["a list", { amount: [5] }],
    ["inherited", Object.create({ amount: 5 })],
    ["in arguments that are no object", "5"],
    ["in arguments that are a list", [{ amount: 5 }]],
  ])("an argument that is %s needs a person", (_, args) => {
    verifies("approvals.policy");
    expect(why({ argument: "amount", op: "gt", value: 100 }, args)).toBeDefined();
  });

  test("leads into objects by dots, and names the rule without what the arguments hold", () => {
    const condition: ApprovalCondition = { argument: "order.total", op: "gt", value: 100 };
    expect(why(condition, { order: { total: 50 } })).toBeUndefined();
    expect(why(condition, { order: { total: 4711 } })).toBe("`order.total` is more than 100.");
    expect(why(condition, { order: 4711 })).toBe("`order.total` is missing, and the definition compares it.");
    expect(why(condition, { order: { total: "4711" } })).toBe("`order.total` should be a number, and is not.");
    expect(why(condition, { "order.total": 50 })).toBeDefined();
  });

  test.each([
    ["eq", "de", "`country` is one that the definition names."],
    ["in", ["fr", "de"], "`country` is one that the definition names."],
    ["ne", "fr", "`country` is none that the definition names."],
    ["not_in", ["fr"], "`country` is none that the definition names."],
  ] as const)("%s is shown without the values it compares with", (op, value, expected) => {
    const condition = { argument: "country", op, value } as unknown as ApprovalCondition;
    expect(why(condition, { country: "de" })).toBe(expected);
  });

  test("is enough if there are several", () => {
    const approval = resolveApproval({
      when: [
        { argument: "a", op: "eq", value: 1 },
        { argument: "b", op: "eq", value: 1 },
      ],
    });
    expect(whyApprovalNeeded(approval, { a: 2, b: 1 })).toBe("`b` is one that the definition names.");
    expect(whyApprovalNeeded(approval, { a: 2, b: 2 })).toBeUndefined();
  });
});
