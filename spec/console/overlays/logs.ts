import type { Story } from "@perch/testkit/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const logsOverlays = (_story: Story): readonly Overlay[] => [];
