import {
  type ApprovalCondition,
  type ApprovalPolicy,
  type AskPersonTool,
  defaultExpirySeconds,
  type McpApprovalPolicy,
} from "@perch/contract";
import type { z } from "zod";

/** The approval that calls of a tool need. Journaled with the tool, so plain JSON. */
export interface ToolApproval {
  /** Absent: every call needs a person. */
  readonly when?: readonly ApprovalCondition[];
  /** Why a call needs approval, if there is no condition. */
  readonly because: string;
  readonly approvers: number;
  readonly expiresAfterSeconds: number;
  readonly invokerMayDecide: boolean;
  readonly secondFactor: boolean;
}

/** An MCP server's claims about a tool, without proof. */
export interface ToolHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
}

type Settings = Extract<McpApprovalPolicy, object>;

function toApproval(settings: Settings, because: string): ToolApproval {
  const { when, approvers = 1, expires_after_seconds, invoker_may_decide = false, second_factor = false } = settings;
  return {
    ...(Array.isArray(when) && { when }),
    because,
    approvers,
    expiresAfterSeconds: expires_after_seconds ?? defaultExpirySeconds,
    invokerMayDecide: invoker_may_decide,
    secondFactor: second_factor,
  };
}

const always = "The definition asks for approval of every call of this tool.";
const destructive =
  "The definition asks for approval of destructive calls, and the server does not declare this tool read-only or not destructive.";
const isHarmless = ({ readOnlyHint, destructiveHint }: ToolHints): boolean =>
  readOnlyHint === true || destructiveHint === false;

const settingsOf = (policy: ApprovalPolicy | McpApprovalPolicy | undefined): Settings =>
  typeof policy === "object" ? policy : {};

/** Every call, and not decided by the invoker: the definition's own settings count only where they ask for more. */
const raise = (policy: ApprovalPolicy | McpApprovalPolicy | undefined, because: string): ToolApproval => {
  const { when: _, ...settings } = settingsOf(policy);
  return toApproval({ ...settings, invoker_may_decide: false }, because);
};

/**
 * Undefined if its calls need no approval. The server's hints count only if the definition asks for them, and not if `floor` is given:
 * why every call of this tool needs a person, whatever the definition says.
 */
export function resolveApproval(
  policy: ApprovalPolicy | McpApprovalPolicy | undefined,
  hints: ToolHints = {},
  floor?: string,
): ToolApproval | undefined {
  if (floor !== undefined) return raise(policy, floor);
  if (policy === undefined || policy === "never") return undefined;
  const settings: Settings = typeof policy === "object" ? policy : policy === "always" ? {} : { when: policy };
  if (settings.when !== "destructive") return toApproval(settings, always);
  return isHarmless(hints) ? undefined : toApproval(settings, destructive);
}

const renamed =
  "The definition asks for approval of a tool that the server does not list, so its other tools need it: one of them may be the same under another name.";

/**
 * For tools of an MCP server that the definition does not name, while it lacks some that need approval: they are as well
 * protected as any of these.
 */
export function approvalOfUnnamed(
  policy: McpApprovalPolicy | undefined,
  missing: readonly ApprovalPolicy[],
): ToolApproval | undefined {
  const needed = missing.filter((each) => each !== "never");
  if (needed.length === 0) return undefined;
  const all = (policy === undefined || policy === "never" ? needed : [policy, ...needed]).map(settingsOf);
  return {
    because: renamed,
    approvers: Math.max(...all.map(({ approvers = 1 }) => approvers)),
    expiresAfterSeconds: Math.min(...all.map((each) => each.expires_after_seconds ?? defaultExpirySeconds)),
    invokerMayDecide: all.every((each) => each.invoker_may_decide === true),
    secondFactor: all.some((each) => each.second_factor === true),
  };
}

/** A question needs a person in any case. */
export const approvalOfQuestion = (tool: z.infer<typeof AskPersonTool>): ToolApproval =>
  toApproval(
    { expires_after_seconds: tool.expires_after_seconds, invoker_may_decide: tool.invoker_may_decide },
    "The agent asks a person.",
  );

const thresholds: Readonly<Partial<Record<ApprovalCondition["op"], string>>> = {
  gt: "is more than",
  gte: "is at least",
  lt: "is less than",
  lte: "is at most",
};

/** Matched values are not named, because with `eq` or `in` that would reveal the argument. */
function ruleOf({ op, value }: ApprovalCondition): string {
  const threshold = thresholds[op];
  if (threshold !== undefined) return `${threshold} ${JSON.stringify(value)}`;
  return op === "eq" || op === "in" ? "is one that the definition names" : "is none that the definition names";
}

/** Only own properties of objects: lists, texts and inherited properties are not searched. */
function valueAt(args: unknown, path: string): unknown {
  let value = args;
  for (const name of path.split(".")) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isObject || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function holds(value: unknown, { op, value: given }: ApprovalCondition): boolean {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (op === "eq" || op === "in") return list.includes(value);
  if (op === "ne" || op === "not_in") return !list.includes(value);
  const [number, limit] = [value as number, given as number];
  if (op === "gt") return number > limit;
  if (op === "gte") return number >= limit;
  return op === "lt" ? number < limit : number <= limit;
}

function whyOf(args: unknown, condition: ApprovalCondition): string | undefined {
  const { argument, value: given } = condition;
  const name = `\`${argument}\``;
  const value = valueAt(args, argument);
  if (value === undefined) return `${name} is missing, and the definition compares it.`;
  const expected = new Set((Array.isArray(given) ? given : [given]).map((each) => typeof each));
  if (!expected.has(typeof value as "string")) return `${name} should be a ${[...expected].join(" or ")}, and is not.`;
  return holds(value, condition) ? `${name} ${ruleOf(condition)}.` : undefined;
}

/** Whether a person has approved a call that is made. */
export const isAlwaysApproved = (approval: ToolApproval | undefined): boolean =>
  approval !== undefined && approval.when === undefined;

/** Why a call with these arguments needs a person; undefined if it needs none. Shows the rule, never the arguments. */
export function whyApprovalNeeded(approval: ToolApproval | undefined, args: unknown): string | undefined {
  if (!approval) return undefined;
  if (!approval.when) return approval.because;
  return approval.when.map((condition) => whyOf(args, condition)).find((why) => why !== undefined);
}
