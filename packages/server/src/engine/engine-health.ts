const checkHealth = async (url: string): Promise<void> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`The engine answers ${response.status}`);
};

/** Throws unless a node of the engine is healthy, as seen on its ingress port. */
export const checkIngressHealth = (urls: readonly string[]): Promise<void> =>
  Promise.any(urls.map((url) => checkHealth(`${url}/restate/health`)));

/** The same on the admin port, where workers register. */
export const checkAdminHealth = (urls: readonly string[]): Promise<void> =>
  Promise.any(urls.map((url) => checkHealth(`${url}/health`)));
