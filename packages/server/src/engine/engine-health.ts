const checkHealth = async (url: string): Promise<void> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`The engine answers ${response.status}`);
};

/** For each node, in the order of their URLs: throws unless it is healthy, as seen on its ingress port. */
export const ingressProbes = (urls: readonly string[]): readonly (() => Promise<void>)[] =>
  urls.map((url) => () => checkHealth(`${url}/restate/health`));

/** The same on the admin port, at which workers register. */
export const adminProbes = (urls: readonly string[]): readonly (() => Promise<void>)[] =>
  urls.map((url) => () => checkHealth(`${url}/health`));
