import {
  command,
  embedderEnvironment,
  entrypoint,
  environment,
  labels,
  ports,
  type Release,
  stopSignal,
  user,
} from "./image-layout.ts";

interface Wanted {
  readonly release: Release;
  readonly embedder: boolean;
}

const pairs = (flag: string, values: Readonly<Record<string, string>>) =>
  Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);

/** The arguments of `buildah config` that configure an image as image-layout.ts describes. */
export const imageConfig = ({ release, embedder }: Wanted): string[] => [
  ...["--entrypoint", JSON.stringify(entrypoint)],
  ...["--cmd", command.join(" ")],
  ...["--user", `${user.id}:${user.id}`],
  ...["--workingdir", "/"],
  ...["--stop-signal", stopSignal],
  ...ports.flatMap((port) => ["--port", port]),
  ...pairs("--env", { ...environment, ...(embedder ? embedderEnvironment : {}) }),
  ...pairs("--label", labels(release)),
];
