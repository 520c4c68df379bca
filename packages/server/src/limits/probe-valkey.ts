import { Redis } from "iovalkey";

export interface ValkeyFacts {
  /** Such as `Valkey 8.0.1`. */
  readonly server: string;
  readonly isReplica: boolean;
}

const fieldOf = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\\r?$`, "m").exec(info)?.[1];

function toFacts(info: string): ValkeyFacts {
  const valkey = fieldOf(info, "valkey_version");
  const redis = fieldOf(info, "redis_version") ?? "of an unknown version";
  return {
    server: valkey === undefined ? `Redis ${redis}` : `Valkey ${valkey}`,
    isReplica: fieldOf(info, "role") === "slave",
  };
}

/** Bytes that it uses; null if it does not report them. Throws if it does not answer. */
export async function readValkeyMemory(valkey: Redis): Promise<number | null> {
  const used = fieldOf(await valkey.info("memory"), "used_memory");
  return used === undefined ? null : Number(used);
}

/** Connects once, asks which server answers, and disconnects. Throws the reason if there is no answer. */
export async function probeValkey(url: string, limitMs: number): Promise<ValkeyFacts> {
  const valkey = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: limitMs,
    commandTimeout: limitMs,
  });
  // The error that `connect` itself throws only reports that there is no connection.
  let reason: Error | undefined;
  valkey.on("error", (error: Error) => {
    reason ??= error;
  });
  try {
    await valkey.connect();
    await valkey.ping();
    return toFacts(await valkey.info());
  } catch (error) {
    throw reason ?? error;
  } finally {
    valkey.disconnect();
  }
}
