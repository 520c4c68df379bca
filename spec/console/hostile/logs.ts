import { type HostileArea, hostile, longWord, markup } from "./hostile-area.ts";

export const hostileLogs: HostileArea = {
  names: ["logs", "a line of the log", "a log that is followed"],
  plant: async (perch) => {
    await perch.agents.create({ name: "logs-hostile", model: "perch/echo" });
    const entries = [
      { message: hostile, metadata: { [markup.slice(0, 90)]: hostile, environment: "a", nested: { text: hostile } } },
      { message: longWord.slice(0, 8000), level: "error" as const, metadata: { word: longWord.slice(0, 9000) } },
      { message: `${hostile}\n${hostile}`, level: "warn" as const, metadata: { version: hostile.slice(0, 200) } },
    ];
    await perch.logs.add("logs-hostile", { entries });
    const { data } = await perch.logs.list("logs-hostile", { level: "error" }).page();
    return {
      logs: "/logs?agent=logs-hostile",
      "a line of the log": `/logs?agent=logs-hostile&line=${data[0]?.id}`,
      "a log that is followed": "/logs?agent=logs-hostile&tail=1",
    };
  },
};
