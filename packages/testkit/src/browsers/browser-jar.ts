/** Follows redirects by hand and keeps cookies by origin, as a browser does. SameSite is not modelled. */
export interface BrowserJar {
  readonly request: (url: string, init?: RequestInit) => Promise<Response>;
  /** Sends a request, and follows redirects until another answer comes, or `until` matches the next address. */
  readonly follow: (url: string, init?: RequestInit, until?: RegExp) => Promise<{ url: string; response: Response }>;
  readonly cookies: (origin: string) => Map<string, string>;
  /** Every `Set-Cookie` so far, in full. */
  readonly setCookies: string[];
}

export function createBrowserJar(): BrowserJar {
  const jars = new Map<string, Map<string, string>>();
  const setCookies: string[] = [];
  const cookies = (origin: string) => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  const request: BrowserJar["request"] = async (url, init = {}) => {
    const jar = cookies(new URL(url).origin);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      setCookies.push(line);
      const [, name = "", value = ""] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      const isOver = value === "" || /max-age=0(;|$)/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line);
      if (isOver) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };

  const follow: BrowserJar["follow"] = async (url, init, until) => {
    let [next, response] = [url, await request(url, init)];
    for (let hops = 0; hops < 10; hops++) {
      const location = response.headers.get("location");
      if (location === null) break;
      next = new URL(location, next).href;
      if (until?.test(next)) return { url: next, response };
      await response.body?.cancel();
      response = await request(next);
    }
    return { url: next, response };
  };

  return { request, follow, cookies, setCookies };
}

/**
 * Fills in the login page of the test issuer, to which a redirect of Perch led. Returns the address to which the issuer sends the browser
 * back.
 */
export async function signInAtIssuer(jar: BrowserJar, start: string, fields: Record<string, string>): Promise<string> {
  const callback = /\/console\/oidc\/callback/;
  const login = await jar.follow(start, {}, callback);
  if (callback.test(login.url)) return login.url;
  const action = /action="([^"]+)"/.exec(await login.response.text())?.[1];
  if (!action) throw new Error(`there is no login page at ${login.url}`);
  const form = { method: "POST", body: new URLSearchParams(fields) };
  const { url } = await jar.follow(new URL(action, login.url).href, form, callback);
  return url;
}
