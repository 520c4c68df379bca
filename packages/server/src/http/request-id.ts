import { newPublicId } from "../platform/ids.ts";

const safePattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's own `X-Request-Id` if it is safe to log and echo, else one of ours. */
export const requestId = (given: string | string[] | undefined): string =>
  typeof given === "string" && safePattern.test(given) ? given : newPublicId("request");
