import { type Body, type Dialect, newId, pieces, usage } from './turn.ts'

/** OpenAI's chat completions, which many others speak too. */
export const chat: Dialect = {
  path: /\/chat\/completions$/,
  read: (body: Body) => ({
    model: body.model,
    stream: body.stream === true,
    hasTools: (body.tools ?? []).length > 0,
    answersSoFar: body.messages.filter((message: Body) => message.role === 'assistant').length,
    textTools: new Set(),
  }),
  answer(turn, model) {
    const head = { id: newId('chatcmpl'), created: 1_700_000_000, model }
    const calls = (turn.tools ?? []).map(({ name, input }) => ({
      id: newId('call'),
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
    const tokens = {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    }
    const chunk = (choices: object[], more = {}) => ({
      data: { ...head, object: 'chat.completion.chunk', choices, ...more },
    })
    const delta = (delta: object) => chunk([{ index: 0, delta, finish_reason: null }])
    const message = {
      role: 'assistant',
      content: turn.text ?? null,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    return {
      whole: {
        ...head,
        object: 'chat.completion',
        usage: tokens,
        choices: [{ index: 0, finish_reason, message }],
      },
      events: [
        delta({ role: 'assistant', content: '' }),
        ...(turn.text === undefined ? [] : pieces(turn.text).map((content) => delta({ content }))),
        ...calls.flatMap((call, index) => [
          delta({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] }),
          ...pieces(call.function.arguments).map((part) =>
            delta({ tool_calls: [{ index, function: { arguments: part } }] }),
          ),
        ]),
        chunk([{ index: 0, delta: {}, finish_reason }]),
        chunk([], { usage: tokens }),
        { data: '[DONE]' },
      ],
    }
  },
}
