import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import { deriveKey, type KeySource, MasterKeyError, openBytes, sealBytes } from "../platform/sealing.ts";
import type { DB } from "./generated-rows.ts";

export interface MasterKeys {
  readonly current: Buffer;
  /** Older ones, which may still wrap some data keys. */
  readonly previous: readonly Buffer[];
}

/** A name for a master key that reveals nothing about it. */
export const masterKeyName = (masterKey: Buffer): string =>
  deriveKey(masterKey, "master key name").toString("hex", 0, 8);

const wrappingKey = (masterKey: Buffer) => deriveKey(masterKey, "data keys");

const wrap = (masterKey: Buffer, purpose: string, key: Buffer) => ({
  wrapped: sealBytes(wrappingKey(masterKey), key, purpose),
  master_key: masterKeyName(masterKey),
});

export interface DataKeys {
  /** Loads the data keys and creates missing ones. Must run before anything is digested or decrypted. */
  readonly load: () => Promise<void>;
  readonly keyFor: (purpose: string) => KeySource;
  /** Opens every data key that there is, and creates none. Throws a MasterKeyError for one that does not open. */
  readonly verify: () => Promise<{ readonly total: number; readonly underPrevious: number }>;
  /** Wraps every data key with the current master key. Returns how many needed it; safe to repeat. */
  readonly rewrap: () => Promise<number>;
}

/** `purposes` are those of all resources, whose keys are loaded. */
export function createDataKeys(
  db: Kysely<DB>,
  { current, previous }: MasterKeys,
  purposes: readonly string[],
): DataKeys {
  const loaded = new Map<string, Buffer>();
  const masterKeys = new Map([...previous, current].map((key) => [masterKeyName(key), key]));

  const find = (purpose: string) =>
    db.selectFrom("data_keys").select(["wrapped", "master_key"]).where("purpose", "=", purpose).executeTakeFirst();

  const unwrap = (purpose: string, wrapped: Buffer, name: string): Buffer => {
    const masterKey = masterKeys.get(name);
    if (!masterKey)
      throw new MasterKeyError(
        `The data keys are encrypted with the master key ${name}; PERCH_MASTER_KEY is ${masterKeyName(current)}. Set PERCH_MASTER_KEY to that key, or add it to PERCH_PREVIOUS_MASTER_KEYS.`,
      );
    return openBytes(wrappingKey(masterKey), wrapped, purpose);
  };

  /** AES-GCM only reports that a ciphertext is not the one that was written. */
  const openOrExplain = (purpose: string, wrapped: Buffer, name: string): Buffer => {
    try {
      return unwrap(purpose, wrapped, name);
    } catch (error) {
      if (error instanceof MasterKeyError) throw error;
      throw new MasterKeyError(
        `The data key "${purpose}" does not open with its master key ${name}: its row in data_keys was changed. Restore that row from a backup.`,
        { cause: error },
      );
    }
  };

  /** Several processes may start at once: the first one creates the key, and all read that one. */
  const insert = async (purpose: string): Promise<void> => {
    await db
      .insertInto("data_keys")
      .values({ purpose, ...wrap(current, purpose, randomBytes(32)) })
      .onConflict((conflict) => conflict.column("purpose").doNothing())
      .execute();
  };

  const findOrInsert = async (purpose: string): Promise<Buffer> => {
    const row = await find(purpose);
    if (row) return unwrap(purpose, row.wrapped, row.master_key);
    await insert(purpose);
    const inserted = await find(purpose);
    if (!inserted) throw new Error(`there is no data key for ${purpose}`);
    return unwrap(purpose, inserted.wrapped, inserted.master_key);
  };

  return {
    load: async () => {
      for (const purpose of purposes) if (!loaded.has(purpose)) loaded.set(purpose, await findOrInsert(purpose));
    },
    keyFor: (purpose) => () => {
      const key = loaded.get(purpose);
      if (!key) throw new Error("the data keys are not loaded yet");
      return key;
    },
    verify: async () => {
      const rows = await db.selectFrom("data_keys").selectAll().execute();
      for (const { purpose, wrapped, master_key } of rows) openOrExplain(purpose, wrapped, master_key);
      const name = masterKeyName(current);
      return { total: rows.length, underPrevious: rows.filter(({ master_key }) => master_key !== name).length };
    },
    rewrap: async () => {
      const name = masterKeyName(current);
      const rows = await db.selectFrom("data_keys").selectAll().execute();
      const old = rows.filter(({ master_key }) => master_key !== name);
      for (const { purpose, wrapped, master_key } of old) {
        const key = unwrap(purpose, wrapped, master_key);
        const next = wrap(current, purpose, key);
        await db
          .updateTable("data_keys")
          .set({ ...next, wrapped_at: new Date() })
          .where("purpose", "=", purpose)
          // Skips a row that a concurrent rotation has already wrapped.
          .where("master_key", "=", master_key)
          .execute();
      }
      return old.length;
    },
  };
}
