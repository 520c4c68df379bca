import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "@perch/testkit/services/commands.ts";
import { listNpmPackages, type NpmPackage } from "./npm-packages.ts";

const root = join(import.meta.dirname, "../..");

export const isLicence = (name: string) => /^(licen[cs]e|notice|copying|copyright)/i.test(name);

/** A few packages name their licence without its text. Their authors' terms ask for the text in every copy. */
function licenceText({ name, version, licence, author }: NpmPackage): string {
  const heading = `${name} ${version} is under the ${licence} licence, as its package.json says.\n\n`;
  if (licence === "Apache-2.0") return heading + readFileSync(join(root, "LICENSE"), "utf8");
  if (licence === "MIT")
    return `${heading}Copyright (c) ${author || `the authors of ${name}`}\n\n${readFileSync(join(import.meta.dirname, "mit-licence.txt"), "utf8")}`;
  throw new Problem(
    `${name} ${version} has no file with its licence (${licence || "none named"}). ` +
      "Add the text of that licence to deploy/image/licences.ts, or do without the package.",
  );
}

export function addMissingLicences(application: string): void {
  for (const each of listNpmPackages(application)) {
    if (readdirSync(each.folder).some(isLicence)) continue;
    writeFileSync(join(each.folder, "LICENSE"), licenceText(each));
  }
  copyFileSync(join(root, "LICENSE"), join(application, "LICENSE"));
}
