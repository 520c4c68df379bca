import { parseArgs } from "node:util";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { ConcurrentRotationError, rotateSigningKey } from "../../db/signing-keys.ts";
import { directoryMaxAgeSeconds } from "../../outbound/signing/key-directory.ts";
import type { Logger } from "../../platform/logger.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** Twice the time that receivers keep the directory: once for them, once for nodes that learn of the key late. */
const minOverlapSeconds = 2 * directoryMaxAgeSeconds;
const maxOverlapSeconds = 30 * 24 * 3600;

function parseOverlap(text: string): number {
  const seconds = /^\d{1,8}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds >= minOverlapSeconds && seconds <= maxOverlapSeconds) return seconds;
  throw new UsageError(
    `--overlap-seconds is a whole number from ${minOverlapSeconds} to ${maxOverlapSeconds}: receivers keep the directory of keys for ${directoryMaxAgeSeconds} s.`,
  );
}

/** Gives the installation a new key for signing calls. Servers keep running and take it over by themselves. */
export async function runRotateSigningKey(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["rotate-signing-key"].options });
  const { "overlap-seconds": given, revoke } = values;
  if (revoke && given !== undefined) throw new UsageError("--revoke has no overlap: leave out --overlap-seconds.");
  const overlapSeconds = parseOverlap(given ?? "3600");
  const core = composeCore(config, logger);
  try {
    await core.dataKeys.load();
    const { keyId, signsFrom } = await rotateSigningKey(core.db.unscoped, core.keys.signingKeySealer, {
      overlapSeconds,
      revoke,
    });
    console.log(
      revoke
        ? `The key ${keyId} signs from now on. All older keys are revoked: servers stop using them within 30 s.`
        : `The key ${keyId} is in the directory now and signs from ${signsFrom.toISOString()}. The key before it stays in the directory for ${overlapSeconds} s after that.`,
    );
  } catch (error) {
    if (error instanceof ConcurrentRotationError) throw new UsageError(error.message);
    throw error;
  } finally {
    await closeCore(core);
  }
}
