import { type Body, type Dialect, newId, pieces, usage } from './turn.ts'

export const anthropic: Dialect = {
  path: /\/messages$/,
  read: (body: Body) => ({
    model: body.model,
    stream: body.stream === true,
    hasTools: (body.tools ?? []).length > 0,
    answersSoFar: body.messages.filter((message: Body) => message.role === 'assistant').length,
    textTools: new Set(),
  }),
  answer(turn, model) {
    const content = [
      ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text }]),
      ...(turn.tools ?? []).map(({ name, input }) => ({ type: 'tool_use', id: newId('toolu'), name, input })),
    ] as Body[]
    const stop_reason = turn.tools ? 'tool_use' : 'end_turn'
    const tokens = { input_tokens: usage.input, output_tokens: usage.output }
    const head = { id: newId('msg'), type: 'message', role: 'assistant', model, stop_sequence: null }
    const event = (data: { type: string } & Body) => ({ name: data.type, data })
    return {
      whole: { ...head, content, stop_reason, usage: tokens },
      events: [
        event({ type: 'message_start', message: { ...head, content: [], stop_reason: null, usage: tokens } }),
        ...content.flatMap((block, index) => {
          const isText = block.type === 'text'
          const open = isText ? { type: 'text', text: '' } : { ...block, input: {} }
          const deltas = isText
            ? pieces(block.text).map((text) => ({ type: 'text_delta', text }))
            : pieces(JSON.stringify(block.input)).map((partial_json) => ({
                type: 'input_json_delta',
                partial_json,
              }))
          return [
            event({ type: 'content_block_start', index, content_block: open }),
            ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
            event({ type: 'content_block_stop', index }),
          ]
        }),
        event({
          type: 'message_delta',
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: usage.output },
        }),
        event({ type: 'message_stop' }),
      ],
    }
  },
}
