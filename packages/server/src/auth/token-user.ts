import type { Permission } from "@perch/contract";
import { ApiError } from "../platform/api-error.ts";

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
