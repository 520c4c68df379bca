import type { Resource } from "../resource.ts";
import type { EngineTasks } from "./engine-tasks.ts";

export const engineTaskResource = {
  name: "engine tasks",
  tables: { engine_tasks: { bound: "handled", agent: "bound" } },
  alerts: ["PerchEngineTasksWaiting"],
  sweeps: ({ engineTasks }: { readonly engineTasks: Pick<EngineTasks, "sweep"> }) => [
    { name: "send engine tasks", everySeconds: 1, run: engineTasks.sweep },
  ],
} as const satisfies Resource;
