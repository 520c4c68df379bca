import { OutsideText } from "../../parts/outside-text.tsx";

/** Why a person is asked. The API's sentences name fields between backticks. */
export const WhyText = ({ why }: { readonly why: string }) =>
  why.split("`").map((text, index) =>
    index % 2 === 1 ? (
      <code key={index} className="font-mono text-[0.95em]">
        <OutsideText text={text} />
      </code>
    ) : (
      <OutsideText key={index} text={text} />
    ),
  );
