import { buildKeyDirectory, directoryPath, type KeyDirectory } from "../outbound/signing/key-directory.ts";
import { createSignedFetch } from "../outbound/signing/signed-fetch.ts";
import type { SigningKey } from "../platform/signing-key.ts";
import type { Core } from "./core.ts";

/** The guarded client for calls that receivers should recognise: tools, MCP servers and remote agents. */
export const composeSignedFetch = ({
  config,
  outbound: { countedFetch, signingKeys },
  nowMs,
}: Core): typeof globalThis.fetch =>
  createSignedFetch({
    fetch: countedFetch,
    signingKey: signingKeys.current,
    directoryUrl: config.publicUrl && `${config.publicUrl}${directoryPath}`,
    now: nowMs,
  });

const rebuildAfterMs = 60_000;

/** The directory of public keys. Its signatures are made again when the keys have changed, and each minute. */
export function composeKeyDirectory({ config, outbound: { signingKeys }, nowMs }: Core): () => Promise<KeyDirectory> {
  let built: { keys: readonly SigningKey[]; atMs: number; directory: KeyDirectory } | undefined;
  return async () => {
    const keys = await signingKeys.list();
    const atMs = nowMs();
    if (built?.keys !== keys || Math.abs(atMs - built.atMs) >= rebuildAfterMs)
      built = { keys, atMs, directory: buildKeyDirectory(keys, config.publicUrl, atMs) };
    return built.directory;
  };
}
