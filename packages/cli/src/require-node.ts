/**
 * Imported before everything else, because an older Node fails later, with a stack that does not show the reason.
 * `engines` names the same version.
 */
const minMajor = 24;

if (Number.parseInt(process.versions.node, 10) < minMajor) {
  console.error(`perch needs Node ${minMajor} or later, and this is Node ${process.versions.node}.`);
  process.exit(1);
}
