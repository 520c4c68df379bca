import type { Extension } from "@codemirror/state";
import { useEffect, useMemo, useRef } from "react";
import { type CodeEditor, createCodeEditor } from "../../../parts/code-editor.ts";
import { rangeOf } from "./agent-document.ts";
import type { Schema } from "./definition-schema.ts";
import { problemSentence, type YamlProblem } from "./problem-sentence.ts";
import type { Definition } from "./use-definition.ts";

export interface YamlEditorProps {
  readonly definition: Definition;
  readonly schema: Schema;
  readonly readOnly: boolean;
  readonly createExtensions: (schema: Schema) => Extension;
}

/** The path in a message, such as `tools.0.url`. Field names of this document have no dots. */
const pathOf = (field: string) => field.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));

/** The problems at the lines of their fields: those of the YAML itself, else those of the document. */
function problemsInText({ parsed, problems }: Definition): readonly YamlProblem[] {
  if (parsed.problems.length > 0) return parsed.problems;
  return [...problems].map(([field, message]) => ({ ...rangeOf(parsed.yaml, pathOf(field)), field, message }));
}

export function YamlEditor({ definition, schema, readOnly, createExtensions }: YamlEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor>(undefined);
  const latest = useRef(definition);
  latest.current = definition;
  useEffect(() => {
    if (!parent.current) return;
    const created = createCodeEditor({
      parent: parent.current,
      label: "Definition as YAML",
      text: latest.current.text,
      readOnly,
      onChange: (text) => latest.current.setText(text),
      extensions: createExtensions(schema),
    });
    editor.current = created;
    return () => created.destroy();
  }, [schema, readOnly, createExtensions]);
  const problems = useMemo(() => problemsInText(definition), [definition]);
  useEffect(() => editor.current?.setText(definition.text), [definition.text]);
  useEffect(() => editor.current?.setProblems(problems), [problems]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div ref={parent} className="min-h-0 flex-1" />
      <p role="status" className="border-line border-t px-4 py-1 text-muted text-small">
        {problemSentence(definition.text, problems)} Escape and then Tab leaves the editor.
      </p>
    </div>
  );
}
