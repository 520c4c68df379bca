import { describe, expect, test } from "vitest";
import { type AnswerField, answerFieldOf, parseAnswer } from "./answer-field.ts";

describe("a form asks for an answer", () => {
  test.each<[object, AnswerField | undefined]>([
    [{ type: "string", maxLength: 10 }, { type: "text" }],
    [{ type: "integer" }, { type: "number" }],
    [{ type: "number" }, { type: "number" }],
    [{ type: "boolean" }, { type: "choice", values: [true, false] }],
    [
      { type: "string", enum: ["red", "blue"] },
      { type: "choice", values: ["red", "blue"] },
    ],
    [{ enum: [1, "one", true] }, { type: "choice", values: [1, "one", true] }],
    [{ enum: [] }, undefined],
    [{ enum: [{ a: 1 }] }, undefined],
    [{ enum: Array.from({ length: 101 }, String) }, undefined],
    [{ type: "object", properties: {} }, undefined],
    [{ type: "array" }, undefined],
    [{ type: ["string", "null"] }, undefined],
    [{ anyOf: [{ type: "string" }] }, undefined],
    [{}, undefined],
  ])("of the schema %j", (schema, field) => {
    expect(answerFieldOf(schema)).toEqual(field);
  });

  test.each<[AnswerField, string, unknown]>([
    [{ type: "text" }, " as it is ", " as it is "],
    [{ type: "number" }, " -12.5 ", -12.5],
    [{ type: "number" }, "12e3", undefined],
    [{ type: "number" }, "Infinity", undefined],
    [{ type: "number" }, "", undefined],
    [{ type: "choice", values: [true, false] }, "1", false],
    [{ type: "choice", values: ["red"] }, "red", undefined],
    [{ type: "choice", values: ["red"] }, "1", undefined],
    [{ type: "choice", values: ["red"] }, "__proto__", undefined],
  ])("and reads it: %j, %j", (field, text, value) => {
    expect(parseAnswer(field, text)).toEqual(value);
  });
});
