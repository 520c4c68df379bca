import { randomBytes } from "node:crypto";
import type { RestateCluster } from "./restate-process.ts";
import type { ScratchDatabase } from "./scratch-database.ts";

/** The parts that a process of the server gets settings for. */
interface InstallationParts {
  readonly database?: Pick<ScratchDatabase, "appUrl" | "ownerUrl">;
  readonly valkeyUrl?: string;
  readonly engine?: Pick<RestateCluster, "ingressUrls" | "adminUrls">;
  readonly masterKey?: string;
}

export const createMasterKey = (): string => randomBytes(32).toString("base64");

/** The settings with which each process of an installation finds its parts. A part that is not given has no setting. */
export const installationSettings = ({ database, valkeyUrl, engine, masterKey }: InstallationParts) => ({
  ...(database && {
    PERCH_DATABASE_URL: database.appUrl,
    PERCH_MIGRATION_DATABASE_URL: database.ownerUrl,
  }),
  ...(valkeyUrl !== undefined && { PERCH_VALKEY_URL: valkeyUrl }),
  ...(engine && {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
  }),
  ...(masterKey !== undefined && { PERCH_MASTER_KEY: masterKey }),
});
