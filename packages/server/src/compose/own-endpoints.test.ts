import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { ownEndpoints } from "./own-endpoints.ts";

const endpoints = (variables: NodeJS.ProcessEnv) =>
  ownEndpoints(
    readConfig({
      PERCH_DATABASE_URL: "postgres://a:b@db.internal/perch",
      PERCH_MASTER_KEY: randomBytes(32).toString("base64"),
      ...variables,
    }),
  ).map(({ host, port }) => `${host} ${port}`);

test("every address of the settings counts as the installation's own, with the port that it implies", () => {
  expect(
    endpoints({
      PERCH_MIGRATION_DATABASE_URL: "postgresql://owner@primary.internal:6432/perch",
      PERCH_VALKEY_URL: "rediss://:secret@valkey.internal",
      PERCH_RESTATE_INGRESS_URL: "http://one.internal:8080,https://two.internal",
      PERCH_RESTATE_ADMIN_URL: "http://one.internal:9070",
      PERCH_WORKER_HOST: "0.0.0.0",
      PERCH_WORKER_URL: "http://workers.internal:7401",
      PERCH_HOST: "10.0.0.7",
      PERCH_METRICS_PORT: "9464",
      PERCH_OTLP_URL: "http://collector.internal:4318",
      PERCH_PUBLIC_URL: "https://perch.example",
    }).sort(),
  ).toEqual(
    [
      "0.0.0.0 7401",
      "10.0.0.7 7400",
      "127.0.0.1 9464",
      "collector.internal 4318",
      "db.internal 5432",
      "one.internal 5122",
      "one.internal 5122",
      "one.internal every",
      "one.internal every",
      "one.internal 8080",
      "one.internal 9070",
      "perch.example 443",
      "primary.internal 6432",
      "two.internal 443",
      "two.internal 5122",
      "two.internal every",
      "valkey.internal 6379",
      "workers.internal 7401",
    ].sort(),
  );
});

test("the host of the database may be in the query; a socket and a port that is not bound yet are not addresses", () => {
  const found = (url: string) => endpoints({ PERCH_DATABASE_URL: url, PERCH_PORT: "0", PERCH_WORKER_PORT: "0" });
  expect(found("postgres://a@db/perch?host=10.0.0.3&port=6000")).toContain("10.0.0.3 6000");
  expect(found("postgres://a@[fd12::3]:6001/perch")).toContain("[fd12::3] 6001");
  const socket = found("postgres://a@db/perch?host=/var/run/postgresql");
  expect(socket.filter((one) => one.includes("5432") || one.endsWith(" 0"))).toEqual([]);
});
