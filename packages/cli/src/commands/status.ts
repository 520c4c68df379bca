import type { Installation } from "@perch/sdk";
import { command } from "../command.ts";
import { printTable } from "../output/table.ts";

const words = (text: string): string => text.replaceAll("_", " ");

type Part = Installation["parts"][number];

const toRow = ({ name, status, latency_ms, address, message }: Part): string[] => [
  ...[words(name), words(status), latency_ms === null ? "-" : `${latency_ms} ms`, address ?? "-", message ?? ""],
];

export const status = command({
  name: "status",
  summary: "Show whether every part of the installation answers. Needs a key that may operate.",
  details:
    "The parts as the node that answers sees them, and the releases with the runs that can end only there. No role may operate: the operator makes a key with `perch-server create-key --operate`.",
  options: {},
  run: async ({ perch, terminal, show, time, signal }) => {
    const found = await perch().installation.get({ signal });
    show(found, () => {
      const { version, node, parts, releases } = found;
      terminal.line(`Perch ${version}, answered by ${terminal.safe(node.name)}, started ${time(node.started_at)}`);
      printTable(terminal, ["part", "status", "answered in", "address", "message"], parts.map(toRow));
      if (releases === null)
        return terminal.note(
          "The releases are not known: this node cannot ask the engine, or the engine is still counting their runs.",
        );
      const rows = releases.map(({ release, state, runs, since, address }) => [
        ...[release ?? "before 0.2.0", words(state), String(runs), time(since), address ?? "-"],
      ]);
      terminal.line("");
      printTable(terminal, ["release", "state", "runs", "since", "address"], rows);
    });
  },
});
