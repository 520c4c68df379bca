import { availableParallelism } from "node:os";
import { join } from "node:path";
import { portBase, servicesDir } from "../services/layout.ts";

export const modelDir = join(servicesDir, "small-model");
/** Debian in a folder; entered by chroot, nothing is mounted. */
export const folder = join(modelDir, "root");
export const weightsFile = join(modelDir, "model.gguf");

/** Moves with the ports of the other services, so that two checkouts can run side by side. */
export const port = portBase + 88;
/** More than the machine has makes it slower, and whoever starts a model here wants to go on working. */
export const threads = Math.min(2, availableParallelism());
/** What the server calls the model: `small/tinyllama` once the provider is named `small`. */
export const modelName = "tinyllama";
