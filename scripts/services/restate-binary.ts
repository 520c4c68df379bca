import { createRequire } from "node:module";
import { Problem } from "./problem.ts";

/** The npm package's own launcher adds a Node process in between, so we look for the platform's binary as it does. */
export function findRestateBinary(): string | undefined {
  try {
    const launcher = createRequire(import.meta.url).resolve("@restatedev/restate-server/package.json");
    const { platform, arch } = process;
    return createRequire(launcher).resolve(`@restatedev/restate-server-${platform}-${arch}/bin/restate-server`);
  } catch {
    return undefined;
  }
}

export function restateBinary(): string {
  const found = findRestateBinary();
  if (found) return found;
  throw new Problem(
    `restate: no server binary for ${process.platform}-${process.arch} in node_modules. Run \`pnpm install\`, ` +
      "or set PERCH_RESTATE_INGRESS_URL and PERCH_RESTATE_ADMIN_URL to a running one.",
  );
}
