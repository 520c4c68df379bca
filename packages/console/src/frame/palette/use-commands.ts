import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "../../session/session.ts";
import { useAreas, useShownPlaces } from "../area.ts";
import { listPageActions } from "../page-actions.ts";
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
  const { permissions } = useMe().key;
  const agents = useAgentCommands(typed);
  const [pageActions] = useState(listPageActions);
  const goTo = [
    ...useShownPlaces().map(({ key, ...place }) => ({ ...place, keys: `g ${key}` })),
    ...useAreas()
      .flatMap(({ commands = [] }) => commands)
      .filter(({ permission }) => permissions.includes(permission)),
  ].map(
    ({ route: { to }, ...command }): Command => ({
      ...{ ...command, id: `go to ${to}`, group: "Go to" },
      run: () => void navigate({ to }),
    }),
  );
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
  return [...pageActions, ...goTo, ...agents, ...setTheme, help];
}
