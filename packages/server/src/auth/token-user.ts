import type { Permission } from "@perch/contract";
import { ApiError, forbidden } from "../platform/api-error.ts";

/** The user that a token identifies. */
export interface TokenUser {
  readonly id: string;
  readonly by: "jwt" | "oauth";
  /** The permissions that the token grants; null if it has no scopes. */
  readonly permissions: ReadonlySet<Permission> | null;
}

export const tokenHeader = "X-User-Token";

/** The same message for every invalid token: details would only help a forger. */
export const invalidToken = (cause?: unknown): ApiError =>
  new ApiError("unauthorized", `The token in \`${tokenHeader}\` is not valid here, or has expired.`, { cause });

/** The user that a request is about: the only one that the caller may reach, or else the one that the request names. */
export function requestedUser(onlyUserId: string | undefined, given: string | undefined): string | undefined {
  if (onlyUserId !== undefined && given !== undefined && given !== onlyUserId)
    throw forbidden(
      `\`user_id\` is not the user of the token in \`${tokenHeader}\`. Leave it out: the token says who the user is.`,
    );
  return onlyUserId ?? given;
}
