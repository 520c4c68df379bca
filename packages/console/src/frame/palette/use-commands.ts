import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useCan, useMe } from "../../session/session.ts";
import { listPageActions } from "../page-actions.ts";
import { placesFor } from "../places.ts";
import { storeTheme, type Theme } from "../theme.ts";
import type { Command } from "./command.ts";
import { useAgentCommands } from "./use-agent-commands.ts";

const themes: readonly (readonly [Theme, string, "sun" | "moon" | "display"])[] = [
  ["light", "Light theme", "sun"],
  ["dark", "Dark theme", "moon"],
  ["system", "Theme as the system", "display"],
];

interface Options {
  readonly typed: string;
  readonly onHelp: () => void;
}

/** Everything that the palette offers on this page. */
export function useCommands({ typed, onHelp }: Options): readonly Command[] {
  const navigate = useNavigate();
  const canWrite = useCan("write");
  const agents = useAgentCommands(typed);
  const [pageActions] = useState(listPageActions);
  const { places, ownPlaces } = placesFor(useMe().key.permissions);
  const goTo = [...places, ...ownPlaces].map(
    ({ to, name, icon, key }): Command => ({
      ...{ id: `place ${to}`, group: "Go to", name, icon, keys: `g ${key}` },
      run: () => void navigate({ to }),
    }),
  );
  const newAgent: Command = {
    ...{ id: "new agent", group: "Go to", name: "New agent", icon: "plus", words: "create" },
    run: () => void navigate({ to: "/agents/new" }),
  };
  const help: Command = {
    id: "help",
    group: "Help",
    name: "Keyboard shortcuts",
    icon: "keyboard",
    keys: "?",
    run: onHelp,
  };
  const setTheme = themes.map(
    ([theme, name, icon]): Command => ({
      id: `theme ${theme}`,
      group: "Theme",
      name,
      icon,
      run: () => storeTheme(theme),
    }),
  );
  return [...pageActions, ...goTo, ...(canWrite ? [newAgent] : []), ...agents, ...setTheme, help];
}
