import type { Story } from "../../../scripts/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const decideOverlays = (_story: Story): readonly Overlay[] => [];
