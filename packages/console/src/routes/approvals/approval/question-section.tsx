import type { Approval } from "@perch/sdk";
import { ContentView } from "../../../parts/content-view.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { SchemaForm } from "../../../parts/schema-form/schema-form.tsx";
import type { Draft } from "./use-draft.ts";

interface QuestionSectionProps {
  readonly contents: NonNullable<Approval["contents"]>;
  readonly draft: Draft;
  readonly canAnswer: boolean;
  readonly onSubmit: () => void;
}

/** The agent's question, and a form for the answer. */
export const QuestionSection = ({ contents, draft, canAnswer, onSubmit }: QuestionSectionProps) => (
  <section className="flex flex-col gap-3">
    <h2 className="text-body">Question</h2>
    <OutsideText block text={contents.question ?? ""} className="border-accent border-l-2 pl-3" />
    {contents.answer !== undefined && <ContentView title="Answer" what="the answer" value={contents.answer} />}
    {canAnswer && (
      <form
        aria-label="Answer"
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <SchemaForm
          name="Answer"
          schema={contents.parameters}
          value={draft.value}
          onChange={draft.change}
          problems={draft.problems}
        />
        {/* Enter in a field submits a form only if it has a submit button. */}
        <button type="submit" hidden />
      </form>
    )}
  </section>
);
