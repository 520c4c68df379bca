/** Where to go after signing in. Only a page of the console: an address from outside must not lead anywhere else. */
export function returnPath(asked: string | undefined, origin: string = location.origin): string {
  const home = "/console/";
  if (asked === undefined || !URL.canParse(asked, origin)) return home;
  const url = new URL(asked, origin);
  const isPage = url.origin === origin && url.pathname.startsWith(home) && !url.pathname.startsWith("/console/oidc/");
  return isPage && url.pathname !== "/console/sign-in" ? url.pathname + url.search : home;
}
