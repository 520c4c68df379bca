import type { Permission } from "../../../session/permission-words.ts";
import type { ExpiryChoice } from "../expiry-choice.ts";
import { type Access, mayGive } from "../grant.ts";

const words = new Intl.ListFormat("en-GB", { type: "conjunction" });

/**
 * Warnings for users who change the key that they are signed in with. A key grants only what it has, and `approve` if
 * `manage` does in the organisation.
 */
export function ownKeyWarnings(
  held: readonly Permission[],
  after: Access,
  { choice }: ExpiryChoice,
  manageGrantsApprove: boolean,
): string[] {
  const lost = held.filter(
    (permission) => !after.permissions.includes(permission) && !mayGive(after, permission, manageGrantsApprove),
  );
  return [
    ...(lost.length > 0 ? [`You lose ${words.format(lost)}, and cannot give this back to yourself.`] : []),
    ...(choice === "keep" || choice === "never" ? [] : ["Your session ends when the key expires."]),
  ];
}
