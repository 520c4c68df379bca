import { type Role, roles } from "@perch/contract";
import { storableText } from "../platform/storable-text.ts";

/** A person as the issuer describes them. Texts are cleaned; they are shown, and never compared. */
export interface Person {
  /** Unique at the issuer, and never reassigned to another person. */
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
}

/** A person's rights in one organisation. */
export interface Access {
  readonly organisationId: string;
  readonly role: Role;
  /** No role includes the permission `approve`. */
  readonly mayApprove: boolean;
}

/** The access that members of the group have to the organisation. */
export interface GroupMapping extends Access {
  readonly group: string;
}

export type Claims = Readonly<Record<string, unknown>>;

const maxSubjectLength = 255;
const maxNameLength = 200;
const maxEmailLength = 254;

/** Control characters, and those that reorder or hide the text around them. */
const unprintable =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\uffff\u{e0000}-\u{e007f}]+/gu;

/** One line that displays safely beside any text; null if nothing of it is left. */
function displayText(value: unknown, maxLength: number): string | null {
  if (typeof value !== "string") return null;
  // Cut first, because the text comes from outside and the replacements below read all of it.
  const text = storableText(value.slice(0, maxLength * 4))
    .replaceAll(unprintable, " ")
    .replaceAll(/\s+/gu, " ")
    .trim();
  return text === "" ? null : storableText(text, maxLength);
}

const looksLikeEmail = /^[^\s@<>"]+@[^\s@<>"]+$/;

function emailOf(value: unknown): string | null {
  const text = typeof value === "string" && value.length <= maxEmailLength ? displayText(value, maxEmailLength) : null;
  return text !== null && text === value && looksLikeEmail.test(text) ? text : null;
}

/** Undefined if the claims name no person. An invalid subject is not cleaned, because two people could become one. */
export function personFromClaims(claims: Claims): Person | undefined {
  const { sub } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > maxSubjectLength || sub !== storableText(sub))
    return undefined;
  return {
    subject: sub,
    name: displayText(claims.name, maxNameLength) ?? displayText(claims.preferred_username, maxNameLength),
    // Issuers also write false as a text. If the claim is missing, the issuer has the address from an administrator.
    email: String(claims.email_verified) === "false" ? null : emailOf(claims.email),
  };
}

/**
 * A person's name in the audit log. It includes the subject, because an address can be reassigned, or belong to another
 * person at another issuer.
 */
export const auditedName = ({ email, subject }: Pick<Person, "email" | "subject">): string =>
  email === null ? subject : `${email} (${subject})`;

/**
 * A list of texts, or one text. Undefined if the claim is missing, because it may be in another place. Anything else
 * names no group.
 */
export function groupsFromClaims(claims: Claims, claim: string): ReadonlySet<string> | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) return undefined;
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value];
  return new Set(listed.filter((group) => typeof group === "string"));
}

const strength = (role: Role): number => roles[role].length;

const stronger = (a: Role, b: Role): Role => (strength(b) > strength(a) ? b : a);

/**
 * One row for each organisation, in the order of the mappings, with the strongest of the person's roles there. One group that may
 * approve is enough, whichever gives the role.
 */
export function accessFromGroups(groups: ReadonlySet<string>, mappings: readonly GroupMapping[]): readonly Access[] {
  const found = new Map<string, Access>();
  for (const { group, organisationId, role, mayApprove } of mappings) {
    if (!groups.has(group)) continue;
    const known = found.get(organisationId) ?? { role, mayApprove };
    found.set(organisationId, {
      organisationId,
      role: stronger(known.role, role),
      mayApprove: known.mayApprove || mayApprove,
    });
  }
  return [...found.values()];
}
