import { type Kysely, sql, type Transaction } from "kysely";
import type { Logger } from "../platform/logger.ts";
import type { Sealer } from "../platform/sealing.ts";
import {
  chooseSigningKey,
  createKeyPair,
  exportPrivateKey,
  importPrivateKey,
  type SigningKey,
} from "../platform/signing-key.ts";
import type { DB } from "./generated-rows.ts";

export interface SigningKeys {
  /** Reads the keys, creates the first one of an installation, and reads them again from then on. */
  readonly load: () => Promise<void>;
  /** The key to sign with now. It needs no database: if that is away, the known keys are used. */
  readonly current: () => SigningKey;
  /** All keys that receivers should know, the newest first. Rereads them if they may have changed since. */
  readonly list: () => Promise<readonly SigningKey[]>;
  /** How long ago the keys were read; undefined in a process that does not need them. */
  readonly ageSeconds: () => number | undefined;
  readonly stop: () => void;
}

interface SigningKeysDeps {
  readonly db: Kysely<DB>;
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly now: () => number;
  readonly reloadEverySeconds?: number;
}

/** How long a list may wait for the database before it gives the known keys. */
const listTimeoutMs = 2000;
const listFreshMs = 1000;

const toRow = (sealer: Sealer) => {
  const pair = createKeyPair();
  return {
    key_id: pair.keyId,
    public_key: Buffer.from(pair.publicKey, "base64url"),
    sealed_private_key: sealer.seal(exportPrivateKey(pair), pair.keyId),
  };
};

const inSeconds = (seconds: number) => sql<Date>`now() + make_interval(secs => ${seconds})`;

async function insertFirstKey(db: Kysely<DB>, sealer: Sealer): Promise<void> {
  await db
    .insertInto("signing_keys")
    .values({ ...toRow(sealer), signs_from: inSeconds(0) })
    // Another process that starts at the same time may have been first.
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function listRows(db: Kysely<DB>) {
  const rows = await db
    .selectFrom("signing_keys")
    .select(["key_id", "sealed_private_key", "signs_from", "retires_at"])
    .select(sql<boolean>`retires_at <= now()`.as("is_retired"))
    .orderBy("signs_from", "desc")
    .execute();
  if (rows.some(({ is_retired }) => is_retired))
    await db.deleteFrom("signing_keys").where("retires_at", "<=", sql<Date>`now()`).execute();
  return rows.filter(({ is_retired }) => !is_retired);
}

export function createSigningKeys(deps: SigningKeysDeps): SigningKeys {
  const { db, sealer, logger, now, reloadEverySeconds = 30 } = deps;
  let keys: readonly SigningKey[] = [];
  let readAtMs: number | undefined;
  let reading: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const open = (row: Awaited<ReturnType<typeof listRows>>[number]): SigningKey[] => {
    const times = { signsFromMs: row.signs_from.getTime(), retiresAtMs: row.retires_at?.getTime() ?? null };
    const known = keys.find(({ keyId }) => keyId === row.key_id);
    if (known) return [{ ...known, ...times }];
    try {
      return [{ ...importPrivateKey(sealer.open(row.sealed_private_key, row.key_id), row.key_id), ...times }];
    } catch {
      // The cause could quote the key, so it is not logged.
      logger.error({ keyId: row.key_id }, "signing key cannot be opened, not used: run rotate-signing-key");
      return [];
    }
  };

  const read = async (): Promise<void> => {
    const opened = (await listRows(db)).flatMap(open);
    if (opened.length > 0) keys = opened;
    readAtMs = now();
  };

  /** One statement at a time, however many ask. */
  const readOnce = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const reload = (): Promise<void> =>
    readOnce().catch((error: unknown) => logger.warn({ err: error }, "signing keys not read, will retry"));

  return {
    load: async () => {
      if (timer) return;
      await read();
      if (keys.length === 0) {
        await insertFirstKey(db, sealer);
        await read();
      }
      if (keys.length === 0)
        throw new Error(
          "No signing key can be opened. Run perch-server rotate-signing-key --revoke, then start again.",
        );
      timer = setInterval(() => void reload(), reloadEverySeconds * 1000).unref();
    },
    current: () => {
      const key = chooseSigningKey(keys, now());
      if (!key) throw new Error("the signing keys are not loaded yet");
      return key;
    },
    list: async () => {
      const isFresh = readAtMs !== undefined && Math.abs(now() - readAtMs) < listFreshMs;
      if (!isFresh) {
        let overdue: NodeJS.Timeout | undefined;
        const timeout = new Promise<void>((resolve) => {
          overdue = setTimeout(resolve, listTimeoutMs);
        });
        await Promise.race([reload(), timeout]);
        clearTimeout(overdue);
      }
      return keys;
    },
    ageSeconds: () => (readAtMs === undefined ? undefined : (now() - readAtMs) / 1000),
    stop: () => clearInterval(timer),
  };
}

interface Rotation {
  /**
   * How long receivers can learn the new key before it signs, and how long they can verify signatures of the old one.
   */
  readonly overlapSeconds: number;
  /** The old keys are void at once, and the new one signs at once. */
  readonly revoke: boolean;
}

/** Thrown if another rotation was faster. The message is for the operator. */
export class ConcurrentRotationError extends Error {}

const isUniqueViolation = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "23505";

async function replaceNewest(trx: Transaction<DB>, sealer: Sealer, { overlapSeconds, revoke }: Rotation) {
  const { rowCount } = await (revoke
    ? sql`update signing_keys set retires_at = now() where retires_at is null or retires_at > now()`
    : sql`update signing_keys set retires_at = ${inSeconds(2 * overlapSeconds)} where retires_at is null`
  )
    .execute(trx)
    .then(({ numAffectedRows }) => ({ rowCount: Number(numAffectedRows ?? 0) }));
  return (
    trx
      .insertInto("signing_keys")
      // The first key of an installation signs at once, because it replaces no other key.
      .values({ ...toRow(sealer), signs_from: inSeconds(revoke || rowCount === 0 ? 0 : overlapSeconds) })
      .returning(["key_id as keyId", "signs_from as signsFrom"])
      .executeTakeFirstOrThrow()
  );
}

/** Adds a key that takes over after the overlap. Throws a `ConcurrentRotationError` if another rotation is under way. */
export async function rotateSigningKey(
  db: Kysely<DB>,
  sealer: Sealer,
  rotation: Rotation,
): Promise<{ readonly keyId: string; readonly signsFrom: Date }> {
  try {
    return await db.transaction().execute((trx) => replaceNewest(trx, sealer, rotation));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ConcurrentRotationError("Another rotation of the signing key has just ended. Nothing was changed.");
  }
}
