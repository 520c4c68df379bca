import { command } from "../command.ts";
import { listOptions, pageOf } from "../list-options.ts";
import { printMore, printTable } from "../output/table.ts";
import { perchCommand } from "../perch-command.ts";

const sources = {
  "built-in": "Perch",
  installation: "the server",
  organisation: "your providers",
} as const;

export const models = command({
  name: "models",
  summary: "List the models that agents can use.",
  details: "provider/* stands for every model of the provider: put the provider's own name for it after the slash.",
  options: listOptions,
  run: async ({ perch, terminal, show, signal }, _, page) => {
    const found = await perch().models.list(pageOf(page), { signal });
    show(found, () => {
      const rows = found.data.map(({ id, provider, source }) => [id, provider, sources[source]]);
      printTable(terminal, ["model", "provider", "from"], rows);
      printMore(terminal, found.pagination, found.data.length);
      if (!found.pagination.has_more && found.data.every(({ source }) => source === "built-in"))
        terminal.note(
          `For a real model:\n  ${perchCommand("providers add openai --type openai --api-key-env OPENAI_API_KEY")}`,
        );
    });
  },
});
