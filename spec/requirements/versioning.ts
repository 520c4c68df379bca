import type { RequirementTable } from "./requirement.ts";

export const versioning = {
  "versioning.path-prefix": {
    section: "Versioning",
    given: "The current version is v1. Every path is relative to the base address and begins with it (`/v1/...`).",
  },
  "versioning.no-prefix-404": {
    section: "Versioning",
    silent: "Behaviour of a request path without a version prefix: not shown.",
    decision: "404 `not_found`; no redirect.",
  },
  "versioning.additive-changes": {
    section: "Versioning",
    silent: "Compatibility policy: not shown.",
    decision: "v1 changes only by addition: nothing that a client could rely on is removed or changes its meaning.",
  },
  "versioning.deprecation-headers": {
    section: "Versioning",
    silent: "Deprecation policy: not shown.",
    decision: "What is to go announces it for 12 months with the headers `Deprecation` and `Sunset`.",
  },
} as const satisfies RequirementTable;
