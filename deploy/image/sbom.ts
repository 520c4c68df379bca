import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianPackage } from "./debian-layer.ts";
import { nodeVersion } from "./image-layout.ts";
import type { NpmPackage } from "./npm-packages.ts";

interface Contents {
  readonly version: string;
  readonly createdAt: Date;
  readonly npm: readonly NpmPackage[];
  readonly debian: readonly DebianPackage[];
  /** The folder that becomes `/`. It has Debian's copyright files. */
  readonly root: string;
}

const expression = (text: string) => [{ expression: text }];
const named = (names: readonly string[]) => names.map((name) => ({ license: { name } }));

function npmComponent({ name, version, licence }: NpmPackage) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return { type: "library", "bom-ref": purl, name, version, licenses: expression(licence), purl };
}

/** The short names in Debian's copyright file. The text in the image has the last word. */
function debianLicences(root: string, name: string): string[] {
  const text = readFileSync(join(root, "usr/share/doc", name, "copyright"), "utf8");
  const names = [...text.matchAll(/^License: *(\S.*)$/gm)].map(([, licence = ""]) => licence.trim());
  return names.length > 0 ? [...new Set(names)].sort() : [`see /usr/share/doc/${name}/copyright`];
}

function debianComponent(root: string, { name, version, architecture }: DebianPackage) {
  const purl = `pkg:deb/debian/${name.replaceAll("+", "%2B")}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-13`;
  return { type: "library", "bom-ref": purl, name, version, licenses: named(debianLicences(root, name)), purl };
}

const nodeComponent = {
  type: "application",
  "bom-ref": `pkg:generic/node@${nodeVersion}`,
  name: "node",
  version: nodeVersion,
  licenses: named(["MIT, and those in /usr/share/doc/node/LICENSE"]),
  purl: `pkg:generic/node@${nodeVersion}`,
};

/** The list of everything inside, as CycloneDX 1.6 has it. It has no serial number, which would differ with each build. */
export function makeSbom({ version, createdAt, npm, debian, root }: Contents): string {
  const isServer = ({ name }: NpmPackage) => name === "@perch/server";
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: createdAt.toISOString(),
      component: { type: "container", "bom-ref": "perch-server", name: "perch-server", version },
    },
    components: [
      nodeComponent,
      ...npm.filter(isServer).map(npmComponent),
      ...npm.filter((each) => !isServer(each)).map(npmComponent),
      ...debian.map((each) => debianComponent(root, each)),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
