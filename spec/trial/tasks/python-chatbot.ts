import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { connectionOf, expectConversation, questions } from "../chatbot.ts";
import { ensureModel } from "../order-model.ts";
import type { Task } from "../task.ts";

const program = join(import.meta.dirname, "../programs/chatbot.py");
const quiet = ["-q", "--disable-pip-version-check"];

export const pythonChatbot: Task = {
  number: 6,
  title: "a chatbot in Python",
  needs: [2],
  run: async (trial) => {
    const cwd = join(trial.root, "python-chatbot");
    mkdirSync(cwd);
    await ensureModel(trial);
    const env = await connectionOf(trial);
    await trial.run([process.env.PERCH_PYTHON ?? "python3", "-m", "venv", ".venv"], { cwd });
    const pip = ".venv/bin/pip";
    await trial.run([pip, "install", ...quiet, trial.the("wheel")], { cwd });
    cpSync(program, join(cwd, "chatbot.py"));
    expectConversation(await trial.run([".venv/bin/python", "chatbot.py", ...questions], { cwd, env }));
    return "session, stream, error";
  },
};
