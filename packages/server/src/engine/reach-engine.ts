const answer = async (url: string): Promise<void> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`The engine answers ${response.status}`);
};

/** Throws unless a node of the engine says that it is well, at the door through which it takes calls. */
export const reachIngress = (urls: readonly string[]): Promise<void> =>
  Promise.any(urls.map((url) => answer(`${url}/restate/health`)));

/** The same at the door through which workers register. */
export const reachAdmin = (urls: readonly string[]): Promise<void> =>
  Promise.any(urls.map((url) => answer(`${url}/health`)));
