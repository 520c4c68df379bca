/** The loss: one disk, or both. */
export const losses = ["postgres", "engine", "both"] as const;
export type Loss = (typeof losses)[number];

/**
 * The expected state after a loss and the restore of PostgreSQL to the moment of its backup. The table of
 * docs/operations/backup.md has the same rows, and the drill checks them.
 */
export const whatIsBack = [
  { what: "what was created before the backup", postgres: "back", engine: "back", both: "back" },
  { what: "what was created after the backup", postgres: "gone", engine: "back", both: "gone" },
  { what: "runs that ended before the backup", postgres: "back", engine: "back", both: "back" },
  { what: "runs that began and ended after the backup", postgres: "gone", engine: "back", both: "gone" },
  {
    what: "runs under way at the backup that ended before the loss",
    postgres: "back",
    engine: "back",
    both: "started again",
  },
  {
    what: "the same, if their time is over at the restore",
    postgres: "back",
    engine: "back",
    both: "failed, with a reason",
  },
  {
    what: "runs under way at the loss that began after the backup",
    postgres: "recorded at their end",
    engine: "started again",
    both: "gone",
  },
  { what: "deployments pending at the backup", postgres: "active", engine: "active", both: "active" },
  { what: "deployments pending at the loss", postgres: "gone", engine: "active", both: "gone" },
  { what: "watches of canaries", postgres: "go on", engine: "go on", both: "go on" },
  {
    what: "deliveries pending at the backup",
    postgres: "delivered, maybe twice",
    engine: "delivered, maybe twice",
    both: "delivered, maybe twice",
  },
  {
    what: "an Idempotency-Key of before the backup",
    postgres: "the same run",
    engine: "the same run",
    both: "the same run",
  },
  { what: "an Idempotency-Key of after the backup", postgres: "a new run", engine: "the same run", both: "a new run" },
] as const satisfies readonly (Readonly<Record<Loss, string>> & { readonly what: string })[];

export type What = (typeof whatIsBack)[number]["what"];
export type Found = Readonly<Record<What, string>>;

/** The statements of the manual that are not true, one line each. */
export const compareWithManual = (loss: Loss, found: Found): string[] =>
  whatIsBack.flatMap((row) =>
    found[row.what] === row[loss] ? [] : [`${row.what}: the manual says "${row[loss]}", found "${found[row.what]}"`],
  );
