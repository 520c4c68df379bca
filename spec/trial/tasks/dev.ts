import type { Task } from "../task.ts";
import type { Trial } from "../trial.ts";

export async function startDev(trial: Trial): Promise<number> {
  const dev = await trial.start(["perch", "dev"], "Ctrl-c stops it.");
  const [, url = ""] = /ready after \S+ s at (http\S+)/.exec(dev.output()) ?? [];
  if (!url) throw new Error(`perch dev does not say where it is:\n${dev.output()}`);
  trial.make({ dev, url });
  return dev.measured.seconds;
}

export const dev: Task = {
  number: 2,
  title: "`perch dev`, first and second start",
  needs: [1],
  run: async (trial) => {
    const first = await startDev(trial);
    await trial.the("dev").stop();
    const second = await startDev(trial);
    return `first ${first.toFixed(1)} s, second ${second.toFixed(1)} s`;
  },
};
