import type { AuditEntry } from "@perch/sdk";

/** What was done to what: after "was not allowed to", and in the past. */
interface Phrase {
  readonly verb: string;
  readonly past: string;
  /** The object, with the resource in it if that is known. */
  readonly object: string;
}

/** For operations whose id does not read as a regular verb and its object. `of` names the resource, or what it is one of. */
const phrases: Readonly<Record<string, (of: (noun: string) => string, entry: AuditEntry) => Phrase>> = {
  rollbackDeployment: (of) => ({ verb: "roll back to", past: "rolled back to", object: of("deployment") }),
  rollBackCanary: (of) => ({
    verb: "roll back",
    past: "rolled back",
    object: `${of("deployment")} because it broke its guards`,
  }),
  cancelInvocation: (of) => ({ verb: "cancel", past: "cancelled", object: of("run") }),
  // The resource is the request to clear it.
  clearMemory: (of, { agent_id }) => ({
    verb: "clear",
    past: "cleared",
    object: `the memory of ${agent_id ?? of("agent")}`,
  }),
  rotateWebhookSecret: (of) => ({ verb: "rotate", past: "rotated", object: `the secret of ${of("webhook")}` }),
  redeliver: (of) => ({ verb: "deliver", past: "delivered", object: `${of("delivery")} again` }),
  redeliverFailed: (of) => ({
    verb: "deliver",
    past: "delivered",
    object: `the failed deliveries of ${of("webhook")} again`,
  }),
  revokeLeakedKey: (of) => ({ verb: "revoke", past: "revoked", object: of("leaked key") }),
  beginMfa: (of) => ({
    verb: "begin",
    past: "began",
    object: `the enrolment of a second factor of ${of("key")}`,
  }),
  enrolMfa: (of) => ({ verb: "enrol", past: "enrolled", object: `a second factor of ${of("key")}` }),
  confirmMfa: (of) => ({ verb: "confirm", past: "confirmed", object: `the second factor of ${of("key")}` }),
  stepUp: (of) => ({ verb: "give", past: "gave", object: `a code of the second factor of ${of("key")}` }),
  removeMfa: (of) => ({ verb: "remove", past: "removed", object: `the second factor of ${of("key")}` }),
  createConsoleSession: (of) => ({ verb: "begin", past: "began", object: of("console session") }),
  createConsoleLink: (of) => ({ verb: "create", past: "created", object: `a link for ${of("console session")}` }),
  recheckPerson: (of) => ({ verb: "get", past: "got", object: `another role in ${of("console session")}` }),
  // The resource is the erasure: the log does not name its user.
  eraseUser: (of) => ({ verb: "request", past: "requested", object: of("erasure") }),
  setOrganisation: (of) => ({ verb: "change", past: "changed", object: of("organisation") }),
  setTier: (of) => ({ verb: "change", past: "changed", object: `the tier of ${of("organisation")}` }),
  resetAgentSecurity: (of) => ({ verb: "reset", past: "reset", object: `the security of ${of("agent")}` }),
};

/** `set-tier`, an operator's command, as the API would call it. */
const idOf = (operation: string): string =>
  operation.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const isCreate = (operation: string): boolean => /^(create|add)/.test(operation);

/** `agent agent_…`, or `an agent` where there is no resource: a refused creation has none, whatever the entry names in its place. */
const nameOf =
  ({ operation, outcome, resource }: AuditEntry) =>
  (noun: string): string =>
    resource === null || (outcome === "refused" && isCreate(operation))
      ? `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`
      : `${noun} ${resource}`;

function phraseOf(entry: AuditEntry): Phrase {
  const id = idOf(entry.operation);
  const of = nameOf(entry);
  const [verb = "", ...noun] = id.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  return (
    phrases[id]?.(of, entry) ?? {
      verb,
      past: verb.endsWith("e") ? `${verb}d` : `${verb}ed`,
      object: of(noun.join(" ")),
    }
  );
}

function actorOf({ actor, key_id, user_id, person }: AuditEntry): string {
  if (actor === "operator") return "an operator";
  if (actor === "system") return "Perch";
  if (person !== null) return person;
  const key = key_id ?? "a caller without a key";
  return user_id === null ? key : `${user_id} with ${key}`;
}

/** `key_… updated agent agent_… (model, tools)`. */
export function auditSentence(entry: AuditEntry): string {
  const { outcome, details, address } = entry;
  const { verb, past, object } = phraseOf(entry);
  const fields = details.fields?.length ? ` (${details.fields.join(", ")})` : "";
  const from = address === null ? "" : ` from ${address}`;
  if (outcome === "changed") return `${actorOf(entry)} ${past} ${object}${fields}${from}`;
  return `${actorOf(entry)} was not allowed to ${verb} ${object}${fields}${from}: ${details.reason ?? "refused"}`;
}
