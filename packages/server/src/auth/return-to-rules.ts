const home = "/console";
/**
 * The maximum length of the path as it is sent. It is sealed into a cookie, and browsers drop cookies of more than
 * 4,096 bytes.
 */
const maxLength = 1000;

/** Any origin, because only the path as a browser resolves it counts. */
const anyOrigin = "https://perch.invalid";

/** The path of the console to go to after a sign-in. Whatever a browser might take for anything else leads to its first page. */
export function safeReturnTo(given: string | undefined): string {
  if (given === undefined || given.length > maxLength || !given.startsWith("/")) return home;
  // Browsers read a backslash as a slash, and leave out line breaks and tabs: `/\evil.example`.
  if (/[\\\p{Cc}\p{Cs}]/u.test(given)) return home;
  const url = URL.parse(given, anyOrigin);
  if (url?.origin !== anyOrigin) return home;
  const { pathname, search, hash } = url;
  const isConsole = pathname === home || pathname.startsWith(`${home}/`);
  // Never a page that begins or ends a sign-in: it could go round for ever.
  const isSignIn = /^\/console\/(?:oidc|sign-in)(?:\/|$)/i.test(pathname);
  // Percent-encoding makes nine characters of one.
  const path = pathname + search + hash;
  return isConsole && !isSignIn && path.length <= maxLength ? path : home;
}
