import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** The highest, 11, makes files 7 % smaller and takes 17 times as long: tests build the console too. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** A response in one packet gains nothing from being smaller. */
const minBytes = 1400;

/** Writes `.br` and `.gz` beside each file: servers read these, and need not compress anything. */
export function compressFiles(): Plugin {
  let outDir = "";
  return {
    name: "compress-files",
    apply: "build",
    configResolved: (config) => {
      outDir = join(config.root, config.build.outDir);
    },
    closeBundle: () => {
      for (const path of globSync("**/*.{js,css,svg}", { cwd: outDir })) {
        const file = join(outDir, path);
        const content = readFileSync(file);
        if (content.length < minBytes) continue;
        writeFileSync(`${file}.br`, brotliCompressSync(content, brotliOptions));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}
