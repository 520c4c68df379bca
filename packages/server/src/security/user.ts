import type { Permission } from "@perch/contract";
import { ApiError } from "../platform/api-error.ts";

/** Who a token speaks for. */
export interface TokenUser {
  readonly id: string;
  readonly by: "jwt" | "oauth";
  /** What the token allows; null where it says nothing of that. */
  readonly permissions: ReadonlySet<Permission> | null;
}

export const tokenHeader = "X-User-Token";

/** One answer for all that can be wrong with a token: which of it was wrong helps only whoever made it up. */
export const invalidToken = (cause?: unknown): ApiError =>
  new ApiError("unauthorized", `The token in \`${tokenHeader}\` is not valid here, or not any more.`, { cause });
