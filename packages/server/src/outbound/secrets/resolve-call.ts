import { replaceSecrets, secretNamesIn } from "@perch/contract";
import { RefusedAddressError } from "../address-guard.ts";
import { parseAllowedUrl } from "../guarded-client.ts";
import { OutsideError } from "../outbound-errors.ts";
import type { FindSecrets, FoundSecret, SecretOwner } from "./find-secrets.ts";
import { type CreateRedactor, noRedaction, type Redactor } from "./redactor.ts";

type Templates = Readonly<Record<string, string>>;

/** A call as its definition has it. */
export interface CallTemplate {
  /** Begins messages: "The tool search". */
  readonly subject: string;
  readonly url: string | URL;
  readonly headers?: Templates | undefined;
  readonly query?: Templates | undefined;
  /** A person approved the call, or none is made. Left out: it carries no secret that needs approval. */
  readonly isApproved?: boolean;
}

/** The resolved headers and parameters of a call, and how to remove the secrets in them from all answers. */
export interface ResolvedCall {
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly redactor: Redactor;
}

/**
 * Puts secrets into a call, once for each attempt and just before it. Throws a `RefusedSecretError` if one does not exist or is not
 * for this address. Without references it costs nothing.
 */
export type ResolveCall = (owner: SecretOwner, call: CallTemplate) => Promise<ResolvedCall>;

export type SecretRefusal = "missing" | "host" | "approval";

/**
 * Nothing was sent, and repeating the call would not help. The message is for users and for the model: it contains the
 * advice.
 */
export class RefusedSecretError extends OutsideError {}
export class MissingSecretError extends RefusedSecretError {}
export class SecretHostError extends RefusedSecretError {}
export class UnapprovedSecretError extends RefusedSecretError {}

/** Whether the error means that nothing may be sent, because of a secret or of the address. */
export const isRefusedCall = (error: unknown): error is Error =>
  error instanceof RefusedSecretError || error instanceof RefusedAddressError;

/** Answers are searched for all of them, and the search is prepared for every call. */
const maxSecrets = 8;
const maxCharacters = 8192;
/** A template may refer to one secret many times. Servers refuse more than some 16 KiB of headers. */
const maxResolvedCharacters = 32_768;

export const secretNamesOf = ({ headers = {}, query = {} }: Pick<CallTemplate, "headers" | "query">): string[] =>
  secretNamesIn([...Object.values(headers), ...Object.values(query)].join("\n"));

/** The advice if the other side refuses a login. `setting` names the setting of its headers, for users. */
export function adviseLogin(setting: string, templates: Pick<CallTemplate, "headers" | "query">): string {
  const names = secretNamesOf(templates);
  if (names.length === 0) return `It refuses the login: check ${setting}.`;
  return `It refuses the login: check the secret${names.length > 1 ? "s" : ""} ${names.join(", ")}, and ${setting}.`;
}

const quantity = (names: readonly string[], one: string, several: string): string =>
  names.length === 1 ? `the secret ${names[0]} ${one}` : `the secrets ${names.join(", ")} ${several}`;

/** The first reason why a call may not carry the secrets it refers to, in words; undefined if it may. */
export function findRefusal(
  { subject, url, isApproved = false, ...templates }: CallTemplate,
  { agentId }: SecretOwner,
  found: ReadonlyMap<string, FoundSecret>,
): RefusedSecretError | undefined {
  const names = secretNamesOf(templates);
  if (names.length > maxSecrets)
    return new RefusedSecretError(
      `${subject} cannot be called: it refers to more than ${maxSecrets} secrets. Refer to fewer.`,
    );
  const missing = names.filter((name) => !found.has(name));
  if (missing.length > 0) {
    const forAgent = agentId === null ? "" : ", or POST /v1/agents/{agent_id}/secrets for one agent alone";
    const what = quantity(missing, "does not exist. Create it", "do not exist. Create them");
    return new MissingSecretError(`${subject} cannot be called: ${what}: POST /v1/secrets${forAgent}.`);
  }
  const unapproved = isApproved ? [] : names.filter((name) => found.get(name)?.needsApproval);
  if (unapproved.length > 0) {
    const what = quantity(unapproved, "needs", "need");
    return new UnapprovedSecretError(
      `${subject} cannot be called: ${what} a person's approval of each call, and only HTTP tools wait for it. Use another secret here. If this is an HTTP tool, start the run again.`,
    );
  }
  const { origin } = parseAllowedUrl(url);
  const elsewhere = names.filter((name) => !found.get(name)?.origins.includes(origin));
  // The message does not show the number, because callers that may refer to a secret must not learn its length.
  const characters = names.reduce((sum, name) => sum + (found.get(name)?.value.length ?? 0), 0);
  if (elsewhere.length === 0 && characters > maxCharacters)
    return new RefusedSecretError(
      `${subject} cannot be called: its secrets have more than ${maxCharacters} characters together. Refer to fewer, or use shorter ones.`,
    );
  if (elsewhere.length === 0) return undefined;
  const what = quantity(elsewhere, "is", "are");
  return new SecretHostError(
    `${subject} cannot be called: ${what} not for ${origin}. Correct the address, or add it to the hosts of the secret.`,
  );
}

interface ResolveCallDeps {
  readonly findSecrets: FindSecrets;
  readonly createRedactor: CreateRedactor;
  readonly onRefused: (reason: SecretRefusal) => void;
}

const mapValues = (templates: Templates, toValue: (template: string) => string, toName = (name: string) => name) =>
  Object.fromEntries(Object.entries(templates).map(([name, template]) => [toName(name), toValue(template)]));

const toLowerCase = (name: string): string => name.toLowerCase();

export const createResolveCall =
  ({ findSecrets, createRedactor, onRefused }: ResolveCallDeps): ResolveCall =>
  async (owner, call) => {
    const { headers = {}, query = {} } = call;
    const names = secretNamesOf(call);
    const asItIs = (text: string): string => text;
    if (names.length === 0) return { headers: mapValues(headers, asItIs, toLowerCase), query, redactor: noRedaction };
    // Before a secret is looked for: an address that is never called gets none.
    parseAllowedUrl(call.url);
    const found = names.length > maxSecrets ? new Map<string, FoundSecret>() : await findSecrets(owner, names);
    const refusal = findRefusal(call, owner, found);
    if (refusal instanceof MissingSecretError) onRefused("missing");
    if (refusal instanceof SecretHostError) onRefused("host");
    if (refusal instanceof UnapprovedSecretError) onRefused("approval");
    if (refusal) throw refusal;
    const findValue = (name: string): string => found.get(name)?.value ?? "";
    const resolve = (template: string): string => replaceSecrets(template, findValue);
    const resolved = { headers: mapValues(headers, resolve, toLowerCase), query: mapValues(query, resolve) };
    const values = [...Object.values(resolved.headers), ...Object.values(resolved.query)];
    if (values.reduce((sum, value) => sum + value.length, 0) > maxResolvedCharacters)
      throw new RefusedSecretError(
        `${call.subject} cannot be called: with its secrets its headers and query have more than ${maxResolvedCharacters} characters. Refer to each secret once.`,
      );
    return {
      ...resolved,
      redactor: createRedactor(
        owner.organisationId,
        names.map((name) => [`[secret ${name}]`, findValue(name)]),
      ),
    };
  };
