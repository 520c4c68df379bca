import type { Story } from "../../../scripts/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const metricsOverlays = (_story: Story): readonly Overlay[] => [];
