import { availableParallelism } from "node:os";
import { join } from "node:path";
import { portBase, servicesDir } from "@perch/testkit/services/layout.ts";

export const modelDir = join(servicesDir, "small-model");
/** Debian in a folder; entered by chroot, nothing is mounted. */
export const folder = join(modelDir, "root");
export const weightsFile = join(modelDir, "model.gguf");

/** Relative to the port base of the services, so that two checkouts can run side by side. */
export const port = portBase + 88;
/** At most two, so that the machine stays usable, and not more than it has, which would be slower. */
export const threads = Math.min(2, availableParallelism());
/** The name of the model at the provider: `small/tinyllama` if the provider is named `small`. */
export const modelName = "tinyllama";
