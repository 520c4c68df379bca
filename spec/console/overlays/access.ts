import type { Story } from "../../../scripts/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const accessOverlays = (_story: Story): readonly Overlay[] => [];
