import { parseArgs } from "node:util";

const usage = `node chaos/main.ts [FORM] [--short] [--only NAMES] [--json]

Without a form, it kills parts of a cluster of its own while runs go through it, and counts from
outside what was lost or done twice. It needs root on Debian and the programs that .ci/run installs.

  --neighbour   what one organisation notices of two that attack the service
  --upgrade     replaces a release by another under load, and goes back
                --from, --to   images in podman's storage, or folders with a checkout;
                               both are this checkout unless given
                --features   only what new API nodes accept before their release is active
  --alerts      fires each alert by its fault, follows the runbook, and waits until it has cleared
  --restore     loses each disk, restores it as the manual says, and compares what is back
  --approvals   lets runs wait for persons, kills everything and changes the release meanwhile, and
                decides from two API nodes
                --runs   how many runs; 1,000 unless given, and 50 with --short
  --connections runs an agent for two users who have connected their accounts: in turn, with tokens
                that have ended, while their provider is down or refuses them, and while workers die
                --runs   how many runs in turn; 2,000 unless given, and 60 with --short
  --console     keeps a tail of a log and charts open in a browser under load, and kills the API node
                that serves the tail: no line may be lost, and no tab may grow
                --minutes   how long; 30 unless given, and 40 seconds with --short

  --short       what CI runs
  --only NAMES  only these faults, attacks or alerts, separated by commas, or one loss of a disk.
                A single fault comes five times, and throughput is compared. "hung valkey of api" and
                "hung valkey of worker" exist only here
  --json        one line with all figures instead of tables
  --help        this text

The exit code is 0 if nothing was wrong.`;

function parse() {
  return parseArgs({
    options: {
      json: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      neighbour: { type: "boolean", default: false },
      only: { type: "string" },
      upgrade: { type: "boolean", default: false },
      alerts: { type: "boolean", default: false },
      features: { type: "boolean", default: false },
      from: { type: "string" },
      to: { type: "string" },
      restore: { type: "boolean", default: false },
      approvals: { type: "boolean", default: false },
      connections: { type: "boolean", default: false },
      runs: { type: "string" },
      console: { type: "boolean", default: false },
      minutes: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  }).values;
}

/** Ends the process if only the usage is asked for, or the options cannot be read. */
export function readOptions(): ReturnType<typeof parse> {
  try {
    const options = parse();
    if (!options.help) return options;
    console.log(usage);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}
