import { z } from "zod";

const Scalar = z.union([z.string().max(1024), z.number(), z.boolean()]);
const comparisons = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in"] as const;
const ordering: readonly string[] = ["gt", "gte", "lt", "lte"];

export const ApprovalCondition = z
  .strictObject({
    argument: z
      .string()
      .min(1)
      .max(256)
      .describe("Name of the argument. Dots lead into objects, as in `order.total`.")
      .meta({ example: "amount" }),
    op: z.enum(comparisons).describe("How the argument is compared with `value`."),
    value: z
      .union([Scalar, z.array(Scalar).min(1).max(100)])
      .describe("A list for `in` and `not_in`, a number for `gt`, `gte`, `lt` and `lte`."),
  })
  .refine(({ op, value }) => (op === "in" || op === "not_in") === Array.isArray(value), {
    path: ["value"],
    error: "Expected a list for `in` and `not_in`, and a single value for any other `op`",
  })
  .refine(({ op, value }) => !ordering.includes(op) || typeof value === "number", {
    path: ["value"],
    error: "Expected a number",
  })
  .meta({
    id: "ApprovalCondition",
    description:
      "A call needs approval where this holds, and also where the argument is missing or of another type than `value`.",
  });
export type ApprovalCondition = z.infer<typeof ApprovalCondition>;

const Conditions = z
  .array(ApprovalCondition)
  .min(1)
  .max(20)
  .describe("A call needs approval where any of them holds. Left out: every call does.");

/** How long an approval stays open. */
export const defaultExpirySeconds = 7 * 86_400;
const maxExpirySeconds = 30 * 86_400;

const deciding = {
  expires_after_seconds: z
    .int()
    .min(60)
    .max(maxExpirySeconds)
    .optional()
    .describe(
      `How long a decision may take. Afterwards it counts as rejected. The default is ${defaultExpirySeconds}.`,
    ),
  invoker_may_decide: z
    .boolean()
    .optional()
    .describe(
      "Whether the key or person that started the run may decide too, and keys that it made or that made it. The default is false.",
    ),
};

const permitting = {
  approvers: z
    .int()
    .min(1)
    .max(5)
    .optional()
    .describe("How many different keys or persons must approve. The default is 1. One rejection is enough."),
  second_factor: z
    .boolean()
    .optional()
    .describe("Whether a decision needs the code of a second factor in `X-MFA-Code`. The default is false."),
  ...deciding,
};

export const ApprovalPolicy = z
  .union([z.enum(["never", "always"]), z.strictObject({ when: Conditions.optional(), ...permitting })])
  .describe("Whether a person must approve a call before it is made. The default is `never`.")
  .meta({ id: "ApprovalPolicy" });
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>;

export const McpApprovalPolicy = z
  .union([
    z.enum(["never", "always", "destructive"]),
    z.strictObject({ when: z.union([z.literal("destructive"), Conditions]).optional(), ...permitting }),
  ])
  .describe(
    "Whether a person must approve calls of this server's tools. `destructive`: of all but those that the server itself declares to be read-only or not destructive; a tool without such a hint counts as destructive. The default is `never`: without a word here, what a server says of its tools changes nothing.",
  )
  .meta({ id: "McpApprovalPolicy" });
export type McpApprovalPolicy = z.infer<typeof McpApprovalPolicy>;

/** The settings of `ask_person`, which asks a person for an answer and not for permission. */
export const questionSettings = deciding;
