import { z } from "zod";
import { cappedList, pageQuery, single, Timestamp } from "./envelopes.ts";
import { ErasureId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

const ErasedPart = z
  .object({
    store: z
      .enum(["database", "engine", "streams"])
      .describe(
        "`database`: PostgreSQL. `engine`: what the engine keeps of runs. `streams`: events of runs that can be followed.",
      ),
    data: z.string().describe("The kind of data, such as `memories` or `log entries`."),
    action: z
      .enum(["deleted", "redacted"])
      .describe("`redacted`: rows that are still counted and listed stay, without the user's id and texts."),
    count: z.int().describe("Number of rows or entries."),
  })
  .meta({ id: "ErasedPart" });
export type ErasedPart = z.infer<typeof ErasedPart>;

const ExpiringPart = z
  .object({
    store: z.string().describe("`database` or `engine`."),
    data: z.string(),
    expires: z.string().describe("When it goes by itself, in words."),
  })
  .meta({ id: "ExpiringPart" });
export type ExpiringPart = z.infer<typeof ExpiringPart>;

export const ErasureReceipt = z
  .object({
    removed: z.array(ErasedPart),
    expires: z.array(ExpiringPart).describe("Copies that no erasure reaches and that expire."),
    not_covered: z.array(z.string()).describe("What left Perch earlier, and what Perch cannot tell to be the user's."),
  })
  .meta({ id: "ErasureReceipt" });
export type ErasureReceipt = z.infer<typeof ErasureReceipt>;

export const Erasure = z
  .object({
    id: ErasureId,
    status: z.enum(["running", "completed"]),
    user_id: z
      .string()
      .nullable()
      .describe("The user, in the answer to the request for the erasure alone. Afterwards null: Perch forgets it too."),
    created_at: Timestamp.describe("Runs and entries that were accepted later are not erased."),
    completed_at: Timestamp.nullable(),
    receipt: ErasureReceipt.nullable().describe("What was removed, from the completion on."),
  })
  .meta({ id: "Erasure" });
export type Erasure = z.infer<typeof Erasure>;

const tag = "Erasures";

export const erasureOperations = {
  "DELETE /v1/users/{user_id}/data": {
    id: "eraseUser",
    tag,
    summary: "Erase a user's data",
    description:
      "Removes what is stored about one user of your organisation, in all its agents and those that were deleted: memories, sessions, texts of runs, logs, steps, streams and kept answers. Runs of the user that are under way are cancelled. It goes on in the background; `GET /v1/erasures/{erasure_id}` says when it has completed, with a receipt. While an erasure of the same user is running, the answer is that one. What is accepted after the request is not erased. A key that is limited to one agent is refused.",
    permission: "manage",
    agents: "listed",
    params: z.strictObject({
      user_id: z
        .string()
        .min(1)
        .max(256)
        .describe("The id under which your application names the user, percent-encoded where needed.")
        .meta({ example: "user-42" }),
    }),
    status: 202,
    response: single(Erasure),
  },
  "GET /v1/erasures": {
    id: "listErasures",
    tag,
    summary: "List erasures",
    description:
      "Newest first. Erasures are kept for 400 days after their completion. `total` is exact up to 10,000; above that, `total_relation` is `gte`.",
    permission: "manage",
    agents: "none",
    query: z.strictObject(pageQuery),
    status: 200,
    response: cappedList(Erasure),
  },
  "GET /v1/erasures/{erasure_id}": {
    id: "getErasure",
    tag,
    summary: "Get erasure",
    permission: "manage",
    agents: "none",
    params: z.strictObject({ erasure_id: z.string() }),
    status: 200,
    response: single(Erasure),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type ErasureOperationKey = keyof typeof erasureOperations;
