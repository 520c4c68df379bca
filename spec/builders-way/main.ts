import { listBroken, loadFactor, walkTable } from "./limits.ts";
import { walkBuildersWay } from "./walk.ts";

/** `node spec/builders-way/main.ts`: walks a new builder's way, and prints how long each command took and was silent. */
const before = loadFactor();
const walk = await walkBuildersWay(({ command, output }) => console.log(`$ ${command}\n${output}`));
const factor = Math.max(before, loadFactor());
console.log(walkTable(walk, factor));
const broken = listBroken(walk, factor);
for (const each of broken) console.error(each);
process.exitCode = broken.length > 0 ? 1 : 0;
