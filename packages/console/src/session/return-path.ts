/** The page to open after signing in. It must be a page of the console, so that an address from outside cannot lead anywhere else. */
export function returnPath(asked: string | undefined, origin: string = location.origin): string {
  const home = "/console/";
  if (asked === undefined || !URL.canParse(asked, origin)) return home;
  const url = new URL(asked, origin);
  const isPage = url.origin === origin && url.pathname.startsWith(home) && !url.pathname.startsWith("/console/oidc/");
  return isPage && url.pathname !== "/console/sign-in" ? url.pathname + url.search : home;
}
