import { Redis } from "iovalkey";

const scanned = 1000;

/** Deletes every key that names the organisation: limits, epoch, slots and the sizes of its streams. Returns how many. */
export async function deleteValkeyKeys(url: string | undefined, organisationId: string): Promise<number> {
  if (url === undefined) return 0;
  const valkey = new Redis(url, { maxRetriesPerRequest: 3 });
  // A command that fails reports it itself.
  valkey.on("error", () => undefined);
  try {
    let [cursor, deleted] = ["0", 0];
    do {
      const [next, keys] = await valkey.scan(cursor, "MATCH", `perch:*${organisationId}*`, "COUNT", scanned);
      for (const key of keys) deleted += await valkey.unlink(key);
      cursor = next;
    } while (cursor !== "0");
    return deleted;
  } finally {
    valkey.disconnect();
  }
}
