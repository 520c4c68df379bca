import { join } from "node:path";
import { switchToolOn } from "../../builders-way/walk.ts";
import { expectText } from "../expect.ts";
import { ensureModel } from "../order-model.ts";
import type { Task } from "../task.ts";

const server = join(import.meta.dirname, "../../builders-way/mcp-server.ts");
const token = "token-of-the-documents";

export const mcpTool: Task = {
  number: 8,
  title: "an MCP server that demands a secret",
  needs: [2],
  run: async (trial) => {
    const cwd = join(trial.home, "support");
    await ensureModel(trial);
    const { measured } = await trial.start(["node", server], " at ", { env: { DOCS_TOKEN: token } });
    const [, url = ""] = / at (\S+)/.exec(measured.output) ?? [];
    await trial.run(["perch", "init", "support", "--template", "openai"]);
    switchToolOn(cwd, url, token);
    await trial.run(["perch", "apply", "--yes"], { cwd });
    expectText(await trial.run(["perch", "invoke", "support", "Where is order 42?"], { cwd }), "shipped");
    return "";
  },
};
