/** An organisation as its clients see it. */
export interface Tenant {
  readonly id: string;
  /** Returns the status of the answer, whatever it is. */
  readonly call: (
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<number>;
  /** Throws unless the answer is 2xx. */
  readonly post: (path: string, body: object) => Promise<Readonly<Record<string, unknown>>>;
  /** Starts a run in the background. */
  readonly start: (agent: string, input?: object) => Promise<number>;
  /** The same organisation with another key. */
  readonly withKey: (key: string) => Promise<Tenant>;
}

/** A request may hang as long as the part that is broken. */
const maxMs = 30_000;

export async function createTenant(apiUrl: string, key: string): Promise<Tenant> {
  const send = (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${apiUrl}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(maxMs),
    });
  const call: Tenant["call"] = async (...request) => {
    const response = await send(...request);
    await response.body?.cancel();
    return response.status;
  };
  const data = async (response: Response) => {
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.url} answers ${response.status}: ${text.slice(0, 500)}`);
    return (JSON.parse(text) as { readonly data: Readonly<Record<string, unknown>> }).data;
  };
  const { organisation } = (await data(await send("GET", "me"))) as { readonly organisation: { readonly id: string } };
  return {
    id: organisation.id,
    call,
    post: async (path, body) => data(await send("POST", path, body)),
    start: (agent, input = { message: "hello" }) =>
      call("POST", `agents/${agent}/invoke`, input, { prefer: "respond-async" }),
    withKey: (other) => createTenant(apiUrl, other),
  };
}
