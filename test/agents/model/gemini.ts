import { type Body, type Dialect, newId, usage } from './turn.ts'

export const gemini: Dialect = {
  path: /:(?:stream)?[gG]enerateContent$/,
  read: (body: Body, url: string) => ({
    model: decodeURIComponent(/models\/([^:/]+)/.exec(url)?.[1] ?? ''),
    stream: url.includes(':stream'),
    hasTools: (body.tools ?? []).some((tool: Body) => tool.functionDeclarations?.length > 0),
    answersSoFar: (body.contents ?? []).filter((content: Body) => content.role === 'model').length,
    textTools: new Set(),
  }),
  answer(turn, model) {
    const parts = [
      ...(turn.text === undefined ? [] : [{ text: turn.text }]),
      ...(turn.tools ?? []).map(({ name, input }) => ({ functionCall: { name, args: input } })),
    ]
    const chunk = (some: object[], last: boolean) => ({
      candidates: [
        { index: 0, content: { role: 'model', parts: some }, ...(last && { finishReason: 'STOP' }) },
      ],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
      modelVersion: model,
      responseId: newId('resp'),
    })
    return {
      whole: chunk(parts, true),
      events: parts.map((part, index) => ({ data: chunk([part], index === parts.length - 1) })),
    }
  },
}
