import { answers, holds } from "../expectations.ts";
import { type Section, statement } from "../statement.ts";
import { agent } from "../world.ts";
import { everyOperation, specifiedOperations } from "./operations.ts";

export const versioning: Section = {
  title: "Versioning",
  statements: [
    statement("versioning.v1", "The current version is v1", async (world) => {
      answers(await world.call("GET", "/v1/agents"), 200);
      holds((await world.call("GET", "/v2/agents")).status === 404, "there is a v2");
    }),
    statement("versioning.path", "The version is part of the URL path (/v1/...)", async (world) => {
      for (const { operation, answer } of await everyOperation(world)) {
        holds(operation.path.startsWith("/v1/"), `${operation.path} has no version`);
        holds(answer.status < 300, `${operation.method} ${operation.path} answered ${answer.status}`);
      }
    }),
    statement("versioning.every-request", "every request includes it", async (world) => {
      const { id } = await agent(world);
      for (const { method, path } of specifiedOperations) {
        const unversioned = path
          .replace("/v1", "")
          .replace("{agent_id}", id)
          .replaceAll(/\{\w+\}/g, "none");
        const { status } = await world.call(method, unversioned);
        holds(status === 404, `${method} ${unversioned} answered ${status} without a version`);
      }
    }),
  ],
};
