import type { RequirementTable } from "./requirement.ts";

export const lists = {
  "pagination.fields": {
    section: "Resources and their fields",
    given: "The pagination object carries limit, offset, total (integers) and has_more (boolean).",
  },
  "pagination.default-limit": {
    section: "Limits",
    given: "limit is 10 unless given.",
  },
  "pagination.max-limit": {
    section: "Limits",
    given: "limit is at most 100.",
  },
  "pagination.out-of-range-refused": {
    section: "Limits",
    silent: "The answer to a limit or offset out of range: not shown.",
    decision:
      "400 `invalid_request` that names the parameter, never a silent correction: limit is from 1 to 100, offset from 0.",
  },
  "pagination.offset": {
    section: "Limits",
    given: "offset (integer) starts the page.",
  },
  "pagination.total-and-has-more": {
    section: "Limits",
    given: "The response reports total and has_more.",
  },
  "sort.ascending": {
    section: "Endpoints",
    given: "sort is a field name, such as created_at; without a prefix the order is ascending.",
  },
  "sort.descending-prefix": {
    section: "Endpoints",
    given: "A field name prefixed with `-` sorts in descending order.",
  },
  "sort.allowed-fields": {
    section: "Endpoints",
    silent: "Which other fields a list sorts by: not shown.",
    decision: "Each list names its own, agents created_at, updated_at and name; any other is 400 `invalid_request`.",
  },
  "sort.default": {
    section: "Endpoints",
    silent: "The order of a list without sort: not shown.",
    decision: "`-created_at`: newest first.",
  },
  "filters.query-parameters": {
    section: "Endpoints",
    given: "List endpoints take filters as query parameters.",
  },
  "lists.deployments-parameters": {
    section: "Endpoints",
    silent: "Pagination, sorting and filter parameters of List Deployments: not shown.",
    decision: "limit and offset as on List Agents; sort by created_at; filters environment and status.",
  },
  "lists.webhooks-parameters": {
    section: "Endpoints",
    silent: "Pagination, sorting and filter parameters of List Webhooks: not shown.",
    decision: "limit and offset as on List Agents; sort by created_at; filters agent_id and status.",
  },
  "lists.keys-parameters": {
    section: "Endpoints",
    silent: "Pagination, sorting and filter parameters of List API Keys: not shown.",
    decision:
      "limit and offset as on List Agents; sort by created_at or name; filters agent_id and status (active, expired or revoked).",
  },
} as const satisfies RequirementTable;
