import { useEffect, useRef } from "react";
import { classNames } from "../../parts/class-names.ts";
import { Icon } from "../../parts/icon.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Keys } from "../keys.tsx";
import type { Command } from "./command.ts";

interface OptionProps {
  readonly id: string;
  readonly command: Command;
  readonly isActive: boolean;
  readonly onRun: (command: Command) => void;
  readonly onPoint: () => void;
}

function Option({ id, command, isActive, onRun, onPoint }: OptionProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    // The focus stays in the field above, which names the active option.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field runs the active option.
    <div
      ref={element}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      onClick={() => onRun(command)}
      onPointerMove={onPoint}
      className={classNames(
        "flex h-8 cursor-pointer items-center gap-2 rounded px-2 text-table",
        isActive && "bg-accent-soft",
      )}
    >
      <Icon name={command.icon} className="size-4 text-muted" />
      <OutsideText text={command.name} className="truncate" />
      {command.keys && <Keys keys={command.keys} className="ml-auto" />}
    </div>
  );
}

interface CommandListProps {
  readonly id: string;
  /** Commands of the same group must be adjacent. */
  readonly commands: readonly Command[];
  readonly active: number;
  readonly onActive: (index: number) => void;
  readonly onRun: (command: Command) => void;
}

export const optionId = (listId: string, index: number): string => `${listId}-${index}`;

export function CommandList({ id, commands, active, onActive, onRun }: CommandListProps) {
  const numbered = commands.map((command, index) => ({ command, index }));
  const groups = Map.groupBy(numbered, ({ command }) => command.group);
  return (
    <div id={id} role="listbox" aria-label="Commands" className="min-h-0 overflow-auto p-1">
      {[...groups].map(([group, members]) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options has no element of its own.
        <div key={group} role="group" aria-label={group}>
          <div aria-hidden="true" className="px-2 pt-2 pb-1 text-muted text-small">
            {group}
          </div>
          {members.map(({ command, index }) => (
            <Option
              key={command.id}
              id={optionId(id, index)}
              command={command}
              isActive={index === active}
              onRun={onRun}
              onPoint={() => onActive(index)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}
