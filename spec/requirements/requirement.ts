/** The headings of the specification, docs/specification.md. */
export type Section =
  | "What the service does"
  | "Resources and their fields"
  | "States and transitions"
  | "Endpoints"
  | "Authentication"
  | "Events"
  | "Errors"
  | "Limits"
  | "Versioning";

/** The specification states it. */
interface Given {
  readonly section: Section;
  readonly given: string;
  readonly silent?: never;
  readonly decision?: never;
}

/** The specification leaves it open, and this is the decision. */
interface Silent {
  readonly section: Section;
  readonly silent: string;
  readonly decision: string;
  readonly given?: never;
}

export type Requirement = Given | Silent;
export type RequirementTable = Readonly<Record<string, Requirement>>;
