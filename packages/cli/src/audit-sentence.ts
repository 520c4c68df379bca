import type { AuditEntry } from "@perch/sdk";

const irregular: Readonly<Record<string, string>> = {
  set: "set",
  begin: "began",
  cancel: "cancelled",
  enrol: "enrolled",
};

const pastOf = (verb: string): string => irregular[verb] ?? (verb.endsWith("e") ? `${verb}d` : `${verb}ed`);

const initials = new Set(["mfa"]);

/** `updateAgent` and `set-tier` as words: `update agent`, `set tier`. */
const wordsOf = (operation: string): string[] =>
  operation
    .split(/-|(?=[A-Z])/)
    .map((word) => word.toLowerCase())
    .map((word) => (initials.has(word) ? word.toUpperCase() : word));

/** For operations whose id does not read as a verb and its object. */
function verbOf(operation: string): { readonly verb: string; readonly past: string; readonly object: string } {
  if (operation === "rollbackDeployment") return { verb: "roll back", past: "rolled back", object: "deployment" };
  if (operation === "stepUp") return { verb: "give", past: "gave", object: "a code of a second factor" };
  if (operation === "redeliverFailed") return { verb: "redeliver", past: "redelivered", object: "failed deliveries" };
  const [verb = "", ...object] = wordsOf(operation);
  return { verb, past: pastOf(verb), object: object.join(" ") };
}

function actorOf({ actor, key_id, user_id }: AuditEntry): string {
  if (actor === "operator") return "an operator";
  const key = key_id ?? "a caller without a key";
  return user_id === null ? key : `${user_id} with ${key}`;
}

/** `key_… updated agent agent_… (model, tools)`. */
export function auditSentence(entry: AuditEntry): string {
  const { operation, resource, outcome, details, address } = entry;
  const { verb, past, object } = verbOf(operation);
  const what = [object, resource].filter(Boolean).join(" ");
  const fields = details.fields?.length ? ` (${details.fields.join(", ")})` : "";
  const from = address === null ? "" : ` from ${address}`;
  if (outcome === "changed") return `${actorOf(entry)} ${past} ${what}${fields}${from}`;
  return `${actorOf(entry)} was refused to ${verb} ${what}${fields}${from}: ${details.reason ?? "refused"}`;
}
