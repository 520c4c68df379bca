import type { RequirementTable } from "./requirement.ts";

export const erasures = {
  "erasure.user": {
    section: "Endpoints",
    silent: "How the stored data of one user is removed: not shown.",
    decision:
      "DELETE `/v1/users/{user_id}/data` needs manage and answers 202 with an erasure. When it has completed, no table, stream or entry of the engine holds a mark of the user that was there when it was requested; records of runs and audit entries stay without the user's id and texts. Other users, and users of other organisations, are not touched.",
  },
  "erasure.receipt": {
    section: "Endpoints",
    silent: "How one learns that a user was erased: not shown.",
    decision:
      "GET `/v1/erasures/{erasure_id}` and GET `/v1/erasures` show running or completed, and from the completion on a receipt: what was removed with counts, what expires by itself, and what is not covered. They do not name the user. They are kept for 400 days.",
  },
  "erasure.runs-under-way": {
    section: "Endpoints",
    silent: "What becomes of runs of a user who is being erased: not shown.",
    decision:
      "Runs that were accepted before the request are cancelled, and erased when they have ended. What is accepted after the request is not erased. A second request while an erasure of the same user is running answers with that one.",
  },
  "erasure.durable": {
    section: "Endpoints",
    silent: "What becomes of an erasure when a worker is lost: not shown.",
    decision:
      "It is completed by another worker, and its receipt counts everything once. Housekeeping passes an erasure without a worker to the engine again.",
  },
} as const satisfies RequirementTable;
