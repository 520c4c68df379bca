import { rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "@perch/testkit/services/commands.ts";

/** One layer: the folder becomes `/`, owned by root, in a fixed order and with one time for all files. */
interface Layer {
  readonly folder: string;
}

interface Image {
  readonly name: string;
  readonly layers: readonly Layer[];
  /** Arguments of `buildah config`. */
  readonly config: readonly string[];
  readonly createdAt: Date;
}

const seconds = (date: Date) => String(date.getTime() / 1000);

async function archive({ folder }: Layer, file: string, createdAt: Date): Promise<void> {
  const order = ["--sort=name", "--format=gnu", `--mtime=@${seconds(createdAt)}`];
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  await run("tar", [...order, ...owner, "-C", folder, "-cf", file, "."]);
}

async function commit(container: string, name: string, createdAt: Date): Promise<void> {
  const options = ["--quiet", "--rm", "--identity-label=false", "--format", "oci", "--timestamp", seconds(createdAt)];
  await run("buildah", ["commit", ...options, container, name]);
}

/** Writes an image to the local storage of buildah and podman, one layer on the other. */
export async function writeImage({ name, layers, config, createdAt }: Image, folder: string): Promise<void> {
  let base = "scratch";
  for (const [index, layer] of layers.entries()) {
    const file = join(folder, "layer.tar");
    await archive(layer, file, createdAt);
    const container = (await run("buildah", ["from", "--pull-never", base])).trim();
    try {
      await run("buildah", ["add", "--quiet", container, file, "/"]);
      const isLast = index === layers.length - 1;
      if (isLast) await run("buildah", ["config", ...config, container]);
      const target = isLast ? name : `${name}-layer-${index + 1}`;
      await commit(container, target, createdAt);
      base = target;
    } catch (error) {
      await run("buildah", ["rm", container]).catch(() => {});
      throw error;
    }
    rmSync(file);
  }
  for (const [index] of layers.slice(1).entries()) await run("buildah", ["rmi", `${name}-layer-${index + 1}`]);
}

export interface StoredImage {
  readonly digest: string;
  readonly bytes: number;
}

export async function inspectImage(name: string): Promise<StoredImage> {
  const [image] = JSON.parse(await run("podman", ["image", "inspect", name])) as [{ Digest: string; Size: number }];
  return { digest: image.Digest, bytes: image.Size };
}
