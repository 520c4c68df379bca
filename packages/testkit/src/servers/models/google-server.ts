import { googleEmbeddings } from "./embeddings.ts";
import {
  type AnswerCall,
  type CompletionAnswer,
  type Frame,
  type ModelServer,
  type ProviderCall,
  type ProviderProtocol,
  splitWords,
  startModelServer,
} from "./model-server.ts";

const finishReasons = { stop: "STOP", length: "MAX_TOKENS", "content-filter": "SAFETY" };

const partsOf = ({ text, toolCalls = [] }: CompletionAnswer): object[] => [
  ...splitWords(text ?? "").map((piece) => ({ text: piece })),
  ...toolCalls.map(({ id, name, arguments: args, thoughtSignature }) => ({
    functionCall: { name, args, ...(id ? { id } : {}) },
    ...(thoughtSignature ? { thoughtSignature } : {}),
  })),
];

/** The last part comes in the chunk with the reason, as Gemini sends it; each chunk counts the tokens so far. */
function frames(call: ProviderCall, answer: CompletionAnswer): Frame[] | null {
  const model = call.path.match(/^\/v1beta\/models\/([^/:]+):streamGenerateContent\?alt=sse$/)?.[1];
  if (!model) return null;
  const { input, output } = answer.usage ?? { input: 20, output: 10 };
  const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
  const chunk = (parts: object[], finishReason?: string) => ({
    candidates: [{ content: { parts, role: "model" }, ...(finishReason ? { finishReason } : {}), index: 0 }],
    ...(answer.usage === null ? {} : { usageMetadata }),
    modelVersion: model,
    responseId: `response-${call.number}`,
  });
  const parts = partsOf(answer);
  const reason = finishReasons[answer.finish ?? "stop"];
  return [
    ...parts.slice(0, -1).map((part) => ({ data: chunk([part]), text: "text" in part })),
    { data: chunk(parts.slice(-1), reason), text: "text" in (parts.at(-1) ?? {}) },
  ];
}

const protocol: ProviderProtocol = {
  basePath: "/v1beta",
  keyOf: ({ "x-goog-api-key": key }) => (typeof key === "string" ? key : undefined),
  // Gemini answers 400, not 401.
  wrongKey: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "API key not valid. Please pass a valid API key.",
        status: "INVALID_ARGUMENT",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "API_KEY_INVALID",
            domain: "googleapis.com",
          },
        ],
      },
    },
  },
  frames,
  embeddings: googleEmbeddings,
  errorFrame: () => ({
    data: { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } },
  }),
};

/** Gemini's API: `POST /v1beta/models/{model}:streamGenerateContent?alt=sse`, and its embeddings. */
export const startGoogleServer = (answer: AnswerCall): Promise<ModelServer> => startModelServer(protocol, answer);
