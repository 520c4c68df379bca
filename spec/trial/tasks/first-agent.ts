import { expectText } from "../expect.ts";
import type { Task } from "../task.ts";

export const firstAgent: Task = {
  number: 3,
  title: "init, apply, invoke",
  needs: [2],
  run: async (trial) => {
    await trial.run(["perch", "init"]);
    await trial.run(["perch", "apply", "--yes"]);
    expectText(await trial.run(["perch", "invoke", "my-agent", "Hello from a new user"]), "Hello from a new user");
    return "";
  },
};
