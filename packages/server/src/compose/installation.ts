import type { Installation } from "@perch/contract";
import type { Schema } from "../db/migrate.ts";
import { createReadInstallation } from "../resources/installation/read-installation.ts";
import type { Core } from "./core.ts";
import { placeOf } from "./own-endpoints.ts";

const isLocal = (url: string): boolean => /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(`${url}/`);

/** Only workers need the admin address, so a node that calls the engine elsewhere and has the default for it was not given one. */
const adminUrlsOf = ({ ingressUrls, adminUrls }: Core["config"]): readonly string[] =>
  adminUrls.every(isLocal) && !ingressUrls.every(isLocal) ? [] : adminUrls;

export function composeReadInstallation(core: Core, schema: Schema): () => Promise<Installation> {
  const {
    config,
    db,
    nowMs,
    shared: { readValkeyMemory },
  } = core;
  return createReadInstallation({
    db,
    schema,
    databaseAddress: placeOf(config.databaseUrl),
    maxConnections: config.databaseMaxConnections,
    ingressUrls: config.ingressUrls,
    adminUrls: adminUrlsOf(config),
    placeOf,
    valkey:
      config.valkeyUrl && readValkeyMemory
        ? { address: placeOf(config.valkeyUrl), readMemory: readValkeyMemory }
        : undefined,
    now: nowMs,
  });
}
