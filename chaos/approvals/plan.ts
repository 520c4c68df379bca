/** The outcome of a call. `free`: its policy asks for no approval. */
export type Fate = "free" | "approved" | "edited" | "rejected" | "answered" | "expired" | "cancelled";

/** How the persons of a run decide on one reply of its model. */
export type Way =
  | "approve"
  | "approve twice at once"
  | "approve and reject at once"
  | "reject"
  | "edit"
  | "approve, the last call first"
  | "approve all at once"
  | "reject the first call, after the others"
  | "two approve"
  | "answer"
  | "let it expire"
  | "cancel the run";

export interface PlannedCall {
  readonly tool: string;
  readonly amount: number;
}

export interface Kind {
  /** The model calls these tools, one reply after another, and then answers. */
  readonly replies: readonly (readonly PlannedCall[])[];
  readonly way: Way;
  /** The reaction of the agent to the next turn of a session that waits. */
  readonly whileWaiting?: "refuse" | "queue";
  /** It is the turn after the run before it in the plan, and waits for it or is refused. */
  readonly isNextTurn?: true;
}

export const expirySeconds = 60;
export const largeAmount = 1000;

/** HTTP tools by name, with their policies. */
export const policies = {
  pay: "always",
  pay_large: { when: [{ argument: "amount", op: "gte", value: largeAmount }] },
  pay_together: { approvers: 2 },
  pay_soon: { expires_after_seconds: expirySeconds },
} as const;
/** Asks a person for a text. */
export const questionTool = "ask";

const pay: PlannedCall = { tool: "pay", amount: 10 };
const free: PlannedCall = { tool: "pay_large", amount: largeAmount - 1 };
const large: PlannedCall = { tool: "pay_large", amount: largeAmount };

export const kinds = {
  approved: { replies: [[pay]], way: "approve" },
  "sent twice": { replies: [[pay]], way: "approve twice at once" },
  contradicted: { replies: [[pay]], way: "approve and reject at once" },
  rejected: { replies: [[pay]], way: "reject" },
  edited: { replies: [[pay]], way: "edit" },
  "pair, opposite order": { replies: [[free, pay, large]], way: "approve, the last call first" },
  "pair at once": { replies: [[pay, pay]], way: "approve all at once" },
  "pair, one rejected": { replies: [[pay, free, pay]], way: "reject the first call, after the others" },
  "four eyes": { replies: [[{ tool: "pay_together", amount: 10 }]], way: "two approve" },
  question: { replies: [[{ tool: questionTool, amount: 0 }]], way: "answer" },
  "waits twice": { replies: [[pay], [free], [pay]], way: "approve" },
  expired: { replies: [[{ tool: "pay_soon", amount: 10 }]], way: "let it expire" },
  cancelled: { replies: [[pay]], way: "cancel the run" },
  "turn that waits": { replies: [[pay]], way: "approve", whileWaiting: "queue" },
  "next turn, queued": { replies: [[pay]], way: "approve", whileWaiting: "queue", isNextTurn: true },
  "turn that waits alone": { replies: [[pay]], way: "approve", whileWaiting: "refuse" },
  "next turn, refused": { replies: [[pay]], way: "approve", whileWaiting: "refuse", isNextTurn: true },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof kinds;

/** One run of each kind, and more of the kinds whose decisions race. */
const cycle: readonly KindName[] = [
  ...(Object.keys(kinds) as KindName[]),
  ...(["approved", "sent twice", "contradicted", "edited", "pair, opposite order", "pair at once"] as const),
  ...(["contradicted", "pair at once"] as const),
];

export const agentOf = (kind: Kind) => `payments-${kind.whileWaiting ?? "refuse"}` as const;
export const agents = ["payments-refuse", "payments-queue"] as const;

export interface PlannedRun {
  readonly number: number;
  readonly kind: KindName;
  /** Index of its organisation. */
  readonly organisation: number;
  readonly agent: string;
  /** Unique, and the model finds the kind in it. */
  readonly message: string;
  readonly sessionId: string | undefined;
}

export const messageOf = (kind: KindName, number: number) => `${kind} #${number}`;
export const kindOfMessage = (message: string): Kind | undefined => kinds[message.split(" #")[0] as KindName];

/** The identity of a call's effect. The tool sees it among the arguments, and performs it once. */
export const actionOf = (message: string, step: number, call: number) => `${message} ${step}.${call}`;

/** At least one of each kind. */
export function planRuns(count: number, organisations: number): PlannedRun[] {
  return Array.from({ length: Math.max(count, cycle.length) }, (_, i): PlannedRun => {
    const name = cycle[i % cycle.length] ?? "approved";
    const kind: Kind = kinds[name];
    const turn = kind.isNextTurn ? i - 1 : i;
    return {
      number: i + 1,
      kind: name,
      organisation: turn % organisations,
      agent: agentOf(kind),
      message: messageOf(name, i + 1),
      sessionId: kind.whileWaiting && `session ${turn + 1}`,
    };
  });
}

export const needsPerson = ({ tool, amount }: PlannedCall): boolean => tool !== "pay_large" || amount >= largeAmount;

/** The invoke is refused, and no run starts. */
export const isRefused = ({ isNextTurn, whileWaiting }: Kind): boolean =>
  isNextTurn === true && whileWaiting === "refuse";

/** How often the run is suspended: once for each reply that needs a person, and once if it waits for its turn. */
export const suspensionsOf = (kind: Kind): number =>
  isRefused(kind) ? 0 : kind.replies.filter((calls) => calls.some(needsPerson)).length + (kind.isNextTurn ? 1 : 0);
