import type { Story } from "../../../scripts/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const shipOverlays = (_story: Story): readonly Overlay[] => [];
