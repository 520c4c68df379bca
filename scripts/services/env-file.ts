import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { environment } from "./addresses.ts";
import { envFile } from "./layout.ts";

/** Both readers (`node --env-file` and a shell) take single quotes literally. */
function line([name, value]: [string, string]): string {
  return /^[\w./:@+=,%-]*$/.test(value) ? `${name}=${value}` : `${name}='${value.replaceAll("'", "%27")}'`;
}

export function writeEnvFile(): void {
  const before = existsSync(envFile) ? parseEnv(readFileSync(envFile, "utf8")) : {};
  // Data already encrypted with the key would be unreadable under a new one.
  const masterKey = before.PERCH_MASTER_KEY || randomBytes(32).toString("base64");
  const lines = Object.entries({ ...environment(), PERCH_MASTER_KEY: masterKey }).map(line);
  const partial = `${envFile}.${process.pid}`;
  writeFileSync(partial, `# written by \`pnpm services up\`; only PERCH_MASTER_KEY is kept\n${lines.join("\n")}\n`, {
    mode: 0o600,
  });
  renameSync(partial, envFile);
}
