import type { AuditEntry } from "@perch/sdk";

/** What was done: after "was not allowed to", in the past, and to what. */
export interface Phrase {
  readonly verb: string;
  readonly past: string;
  /** Before the kind of resource: "the secret of". */
  readonly lead?: string;
  /** The kind of resource: "webhook". */
  readonly noun: string;
  /** After the resource: "again". */
  readonly tail?: string;
  /** What the entry calls its resource is not one that a reader knows. */
  readonly isUnnamed?: boolean;
}

/** For operations whose id does not read as a regular verb and its object. */
const phrases: Readonly<Record<string, Phrase>> = {
  rollbackDeployment: { verb: "roll back to", past: "rolled back to", noun: "deployment" },
  rollBackCanary: { verb: "roll back", past: "rolled back", noun: "deployment", tail: "because it broke its guards" },
  updateDeployment: { verb: "change", past: "changed", lead: "the traffic of", noun: "deployment" },
  // The resource is the request to clear it.
  clearMemory: { verb: "clear", past: "cleared", noun: "memory", isUnnamed: true },
  rotateWebhookSecret: { verb: "rotate", past: "rotated", lead: "the signing secret of", noun: "webhook" },
  redeliver: { verb: "redeliver", past: "redelivered", noun: "delivery" },
  redeliverFailed: { verb: "redeliver", past: "redelivered", lead: "the failed deliveries of", noun: "webhook" },
  createKey: { verb: "create", past: "created", noun: "API key" },
  updateKey: { verb: "change", past: "changed", noun: "API key" },
  rotateKey: { verb: "rotate", past: "rotated", noun: "API key" },
  revokeKey: { verb: "revoke", past: "revoked", noun: "API key" },
  revokeLeakedKey: { verb: "revoke", past: "revoked", noun: "leaked API key" },
  beginMfa: { verb: "begin", past: "began", lead: "the enrolment of a second factor of", noun: "API key" },
  enrolMfa: { verb: "enrol", past: "enrolled", lead: "a second factor of", noun: "API key" },
  confirmMfa: { verb: "confirm", past: "confirmed", lead: "the second factor of", noun: "API key" },
  stepUp: { verb: "use", past: "used", lead: "the second factor of", noun: "API key" },
  removeMfa: { verb: "remove", past: "removed", lead: "the second factor of", noun: "API key" },
  createConsoleSession: { verb: "sign in to", past: "signed in to", noun: "console", isUnnamed: true },
  createConsoleLink: { verb: "make", past: "made", lead: "a sign-in link for", noun: "session" },
  endConsoleSession: { verb: "end", past: "ended", noun: "session" },
  recheckPerson: { verb: "get", past: "got", lead: "another role in", noun: "session" },
  // The resource is the erasure: the log does not name its user.
  eraseUser: { verb: "request", past: "requested", noun: "erasure", tail: "of a user's data" },
  setOrganisation: { verb: "change", past: "changed", lead: "the settings of", noun: "organisation" },
  updateOrganisation: { verb: "change", past: "changed", lead: "the settings of", noun: "organisation" },
  setTier: { verb: "change", past: "changed", lead: "the tier of", noun: "organisation" },
  resetAgentSecurity: { verb: "reset", past: "reset", lead: "the security of", noun: "agent" },
};

/** `set-tier`, an operator's command, as the API would call it. */
const idOf = (operation: string): string =>
  operation.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

export function phraseOf({ operation }: Pick<AuditEntry, "operation">): Phrase {
  const id = idOf(operation);
  if (Object.hasOwn(phrases, id)) return phrases[id] as Phrase;
  const [verb = "", ...noun] = id.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  return { verb, past: verb.endsWith("e") ? `${verb}d` : `${verb}ed`, noun: noun.join(" ") };
}

/** A refused creation has made nothing, whatever the entry names in its place. */
const hasNoResource = ({ operation, outcome, resource }: AuditEntry): boolean =>
  resource === null || (outcome === "refused" && /^(create|add)/.test(operation));

export interface Sentence {
  /** "updated", "was not allowed to update". */
  readonly did: string;
  /** "the agent", "an agent", "the signing secret of the webhook". */
  readonly what: string;
  /** Id or name of the resource, if there is one to name. */
  readonly resource: string | undefined;
  /** Whose it is, where the resource is not the agent itself. */
  readonly ofAgent: string | undefined;
  readonly tail: string | undefined;
}

/** The sentence about an entry, without who did it. */
export function sentenceOf(entry: AuditEntry): Sentence {
  const { verb, past, lead, noun, tail, isUnnamed = false } = phraseOf(entry);
  const resource = isUnnamed || hasNoResource(entry) ? undefined : (entry.resource ?? undefined);
  const article = resource !== undefined || isUnnamed ? "the" : /^[aeiou]/i.test(noun) ? "an" : "a";
  return {
    did: entry.outcome === "changed" ? past : `was not allowed to ${verb}`,
    what: [lead, `${article} ${noun}`].filter(Boolean).join(" "),
    resource,
    ofAgent: entry.agent_id !== null && entry.agent_id !== resource ? entry.agent_id : undefined,
    tail,
  };
}
