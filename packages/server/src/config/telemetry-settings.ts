import { z } from "zod";
import { logLevels } from "../platform/logger.ts";
import { httpUrl, type SettingTable, setting, wholeNumber } from "./setting.ts";

export const telemetrySettings = {
  logLevel: setting(
    "PERCH_LOG_LEVEL",
    z
      .enum(logLevels, `must be one of ${logLevels.join(", ")}`)
      .default("info")
      .describe("Minimum level of log messages. They are written to standard error as JSON lines."),
  ),
  defaultLogs: setting(
    "PERCH_DEFAULT_LOGS",
    z
      .enum(["shapes", "full"], "must be shapes or full")
      .default("shapes")
      .describe(
        "What is stored of the contents of runs of agents whose `logs` is the default, `shapes`. `full`, which stores all inputs and outputs of models and tools, is meant for development.",
      ),
  ),
  metricsHost: setting(
    "PERCH_METRICS_HOST",
    z.string().default("127.0.0.1").describe("Address on which Prometheus metrics are served."),
  ),
  metricsPort: setting(
    "PERCH_METRICS_PORT",
    wholeNumber(1, 65_535)
      .optional()
      .describe("Port on which this process serves Prometheus metrics: `GET /metrics`, without authentication."),
  ),
  otlpUrl: setting(
    "PERCH_OTLP_URL",
    httpUrl("http://collector.example:4318")
      .transform((text) => text.replace(/\/+$/, ""))
      .optional()
      .describe("URL of an OpenTelemetry collector that receives traces with OTLP over HTTP: `http://collector:4318`."),
  ),
} satisfies SettingTable;
