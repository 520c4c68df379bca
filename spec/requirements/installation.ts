import type { RequirementTable } from "./requirement.ts";

const silent = "Whether an operator sees the installation through the API: not shown.";

export const installation = {
  "installation.operate-in-no-role": {
    section: "Authentication",
    silent,
    decision:
      "The permission `operate` is in no role. The operator gives it with `perch-server create-key --operate`; through the API, only who holds it gives it on, and never to a key of one agent.",
  },
  "installation.parts": {
    section: "Endpoints",
    silent,
    decision:
      "GET `/v1/installation` needs operate and answers the node's version, and for the database, each node of the engine, the workers and Valkey whether they answer, how fast, and what they hold.",
  },
  "installation.releases": {
    section: "Endpoints",
    silent,
    decision: "It also answers the releases that the engine knows, with the runs that can end only there.",
  },
  "installation.no-tenants": {
    section: "Endpoints",
    silent,
    decision: "It answers nothing of any organisation: no name, no id, no content.",
  },
  "installation.silent-parts": {
    section: "Endpoints",
    silent,
    decision: "A part that does not answer is `silent` with the reason, and the other parts are shown all the same.",
  },
  "installation.bounded": {
    section: "Endpoints",
    silent,
    decision:
      "It answers within 2.5 s whatever is dead. A node asks each part at most every 2 s, and not again while a question is open.",
  },
} as const satisfies RequirementTable;
