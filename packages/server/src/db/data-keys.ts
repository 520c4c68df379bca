import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import { deriveKey, type KeySource, MasterKeyError, openBytes, sealBytes } from "../platform/secrets.ts";
import type { DB } from "./generated-rows.ts";

/** What there are data keys for. The name is part of what is encrypted: never change one. */
export const keyPurposes = [
  "api key digest",
  "idempotent answers",
  "model providers",
  "webhook secrets",
  "agent auth",
  "second factors",
  "recovery codes",
  "step-up tokens",
] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

export interface MasterKeys {
  readonly current: Buffer;
  /** Older ones, which may still be what a data key is under. */
  readonly previous: readonly Buffer[];
}

/** A name for a master key that tells nothing of it. */
export const masterKeyName = (masterKey: Buffer): string =>
  deriveKey(masterKey, "master key name").toString("hex", 0, 8);

const wrappingKey = (masterKey: Buffer) => deriveKey(masterKey, "data keys");

const wrap = (masterKey: Buffer, purpose: string, key: Buffer) => ({
  wrapped: sealBytes(wrappingKey(masterKey), key, purpose),
  master_key: masterKeyName(masterKey),
});

export interface DataKeys {
  /** Reads the data keys, and makes those that are missing. Before anything is digested or opened. */
  readonly load: () => Promise<void>;
  readonly keyFor: (purpose: KeyPurpose) => KeySource;
  /** Wraps every data key anew under the current master key. Tells how many there were to wrap; can be repeated at any time. */
  readonly rewrap: () => Promise<number>;
}

export function createDataKeys(db: Kysely<DB>, { current, previous }: MasterKeys): DataKeys {
  const known = new Map<string, Buffer>();
  const masterKeys = new Map([...previous, current].map((key) => [masterKeyName(key), key]));

  const find = (purpose: string) =>
    db.selectFrom("data_keys").select(["wrapped", "master_key"]).where("purpose", "=", purpose).executeTakeFirst();

  const unwrap = (purpose: string, wrapped: Buffer, name: string | null): Buffer => {
    const masterKey = masterKeys.get(name ?? "");
    if (!masterKey)
      throw new MasterKeyError(
        `The data keys are under the master key ${name}; PERCH_MASTER_KEY is ${masterKeyName(current)}. Give the one they are under as PERCH_MASTER_KEY, or among PERCH_PREVIOUS_MASTER_KEYS.`,
      );
    return openBytes(wrappingKey(masterKey), wrapped, purpose);
  };

  /** Several processes may start at once: whoever is first makes the key, and all read that one. */
  const make = async (purpose: KeyPurpose): Promise<void> => {
    await db
      .insertInto("data_keys")
      .values({ purpose, ...wrap(current, purpose, randomBytes(32)) })
      .onConflict((conflict) => conflict.column("purpose").doNothing())
      .execute();
    // A row without a key is from an installation whose master key gave the key itself, and could not be another one.
    await db
      .updateTable("data_keys")
      .set(wrap(current, purpose, deriveKey(previous.at(-1) ?? current, purpose)))
      .where("purpose", "=", purpose)
      .where("wrapped", "is", null)
      .execute();
  };

  const read = async (purpose: KeyPurpose): Promise<Buffer> => {
    const row = await find(purpose);
    if (row?.wrapped) return unwrap(purpose, row.wrapped, row.master_key);
    await make(purpose);
    const made = await find(purpose);
    if (!made?.wrapped) throw new Error(`there is no data key for ${purpose}`);
    return unwrap(purpose, made.wrapped, made.master_key);
  };

  return {
    load: async () => {
      for (const purpose of keyPurposes) if (!known.has(purpose)) known.set(purpose, await read(purpose));
    },
    keyFor: (purpose) => () => {
      const key = known.get(purpose);
      if (!key) throw new Error("the data keys were not read yet");
      return key;
    },
    rewrap: async () => {
      const name = masterKeyName(current);
      const rows = await db.selectFrom("data_keys").selectAll().execute();
      const old = rows.filter(({ wrapped, master_key }) => wrapped !== null && master_key !== name);
      for (const { purpose, wrapped, master_key } of old) {
        const key = unwrap(purpose, wrapped as Buffer, master_key);
        const next = wrap(current, purpose, key);
        await db
          .updateTable("data_keys")
          .set({ ...next, wrapped_at: new Date() })
          .where("purpose", "=", purpose)
          // Somebody else who rotates at the same moment has done it: then it is done.
          .where("master_key", "=", master_key)
          .execute();
      }
      return old.length;
    },
  };
}
