import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A file with several names, as time zones have, counts once. */
function bytesIn(path: string): number {
  if (!existsSync(path)) return 0;
  if (statSync(path).isFile()) return statSync(path).size;
  const sizes = new Map<number, number>();
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { ino, size } = statSync(join(entry.parentPath, entry.name));
    sizes.set(ino, size);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1).padStart(7);

/** The content of the image by size, the largest first. */
export function sizeTable(system: string, application: string): string {
  const modules = join(application, "node_modules");
  const node = bytesIn(join(system, "usr/local/bin/node"));
  const rows: [string, number][] = [
    ["Node", node],
    ["Debian: C and C++ libraries, certificates, time zones, licences", bytesIn(system) - node],
    ["Perch", bytesIn(application) - bytesIn(modules) - bytesIn(join(application, "embedder"))],
    ["weights of the embedder", bytesIn(join(application, "embedder"))],
    ...readdirSync(modules).map((name): [string, number] => [`npm: ${name}`, bytesIn(join(modules, name))]),
  ];
  const sorted = rows.filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a);
  const [large, small] = [sorted.filter(([, bytes]) => bytes >= 1e6), sorted.filter(([, bytes]) => bytes < 1e6)];
  const rest: [string, number] = [`${small.length} smaller packages of npm`, small.reduce((sum, [, b]) => sum + b, 0)];
  return [...large, rest].map(([name, bytes]) => `${megabytes(bytes)} MB  ${name}`).join("\n");
}
