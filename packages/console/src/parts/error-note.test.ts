import { ConflictError, ConnectionError, DeploymentFailedError, TimeoutError } from "@perch/sdk";
import { expect, test } from "vitest";
import { messageOf } from "./error-note.tsx";

const request = { method: "GET", url: "https://perch.example/v1/me" };

test("only a lost connection reads as a server that cannot be reached", () => {
  const error = new ConnectionError({ ...request, code: "connection_failed", message: "fetch failed" });
  expect(messageOf(error)).toBe("The server cannot be reached. Check your connection.");
});

const failed = { id: "dep_1", status: "failed", error: "The tool stock does not answer." };

test.each([
  ["failed checks", new DeploymentFailedError(failed as never, request), failed.error],
  [
    "a limit",
    new TimeoutError({ ...request, code: "timed_out", message: "No response within 60 s." }),
    "No response within 60 s.",
  ],
  [
    "a refusal",
    new ConflictError({ ...request, status: 409, code: "conflict", message: "It is paused." }),
    "It is paused.",
  ],
  ["an error of the page", new Error("No draft."), "No draft."],
])("the words of %s are shown as they are", (_, error, message) => {
  expect(messageOf(error)).toBe(message);
});
