import { createHmac } from "node:crypto";

export const userTokenSecret = "a secret that has 32 bytes or more";
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of this user, for an agent whose `auth` is a JWT with `userTokenSecret`. */
export function signUserToken(user_id: string, lifetimeSeconds = 600): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { user_id, iat, exp: iat + lifetimeSeconds };
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${body}.${createHmac("sha256", userTokenSecret).update(body).digest("base64url")}`;
}
