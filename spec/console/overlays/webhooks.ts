import type { Story } from "../../../scripts/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const webhooksOverlays = (_story: Story): readonly Overlay[] => [];
