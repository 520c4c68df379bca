import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmInstall, writeManifest } from "@perch/testkit/packaging/install-packages.ts";
import { connectionOf, expectConversation, questions } from "../chatbot.ts";
import { ensureModel } from "../order-model.ts";
import type { Task } from "../task.ts";

const program = join(import.meta.dirname, "../programs/chatbot.ts");
const compilerOptions = { target: "es2024", module: "nodenext", strict: true, noEmit: true, types: ["node"] };

/** The versions with which the checkout itself is checked. */
function compilerVersions(): Record<string, string> {
  const text = readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8");
  const { devDependencies } = JSON.parse(text) as { devDependencies: Record<string, string> };
  return Object.fromEntries(["typescript", "@types/node"].map((name) => [name, devDependencies[name] ?? "latest"]));
}

export const typescriptChatbot: Task = {
  number: 5,
  title: "a chatbot in TypeScript",
  needs: [2],
  run: async (trial) => {
    const cwd = join(trial.root, "typescript-chatbot");
    await ensureModel(trial);
    const env = await connectionOf(trial);
    writeManifest(cwd, trial.the("tarballs"), ["@perch/sdk"], compilerVersions());
    await trial.run(["npm", ...npmInstall], { cwd });
    cpSync(program, join(cwd, "chatbot.ts"));
    writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["chatbot.ts"] }));
    await trial.run(["npx", "tsc"], { cwd });
    expectConversation(await trial.run(["node", "--no-warnings", "chatbot.ts", ...questions], { cwd, env }));
    return "session, stream, error; type-checked";
  },
};
