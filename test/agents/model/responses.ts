import { type Body, type Dialect, newId, pieces, usage } from './turn.ts'

const ofModel = /^(function_call|custom_tool_call|local_shell_call|reasoning|web_search_call)$/

/** OpenAI's responses. */
export const responses: Dialect = {
  path: /\/responses$/,
  read(body: Body) {
    const items: Body[] = Array.isArray(body.input) ? body.input : []
    const isModel = (item: Body | undefined) => item?.role === 'assistant' || ofModel.test(item?.type ?? '')
    const tools: Body[] = body.tools ?? []
    return {
      model: body.model,
      stream: body.stream === true,
      hasTools: tools.length > 0,
      // Items of the model in a row are one answer.
      answersSoFar: items.filter((item, index) => isModel(item) && !isModel(items[index - 1])).length,
      textTools: new Set(tools.filter((tool) => tool.type === 'custom').map((tool) => tool.name)),
    }
  },
  answer(turn, model, textTools) {
    const output: Body[] = [
      ...(turn.text === undefined
        ? []
        : [
            {
              type: 'message',
              id: newId('msg'),
              status: 'completed',
              role: 'assistant',
              content: [{ type: 'output_text', text: turn.text, annotations: [] }],
            },
          ]),
      ...(turn.tools ?? []).map(({ name, input }) => {
        const call = { id: newId('item'), status: 'completed', call_id: newId('call'), name }
        const given = typeof input === 'string' ? input : JSON.stringify(input)
        return textTools.has(name)
          ? { type: 'custom_tool_call', ...call, input: given }
          : { type: 'function_call', ...call, arguments: given }
      }),
    ]
    const tokens = {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    }
    const whole = {
      id: newId('resp'),
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      model,
      output,
      usage: tokens,
    }
    const events = [
      {
        type: 'response.created',
        response: { ...whole, status: 'in_progress', output: [], usage: null },
      },
      ...output.flatMap((item, output_index) => itemEvents(item, output_index)),
      { type: 'response.completed', response: whole },
    ]
    return {
      whole,
      events: events.map((event, sequence_number) => ({
        name: event.type,
        data: { ...event, sequence_number },
      })),
    }
  },
}

function itemEvents(item: Body, output_index: number): ({ type: string } & Body)[] {
  const at = { output_index, item_id: item.id }
  const added = (more: object) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, status: 'in_progress', ...more },
  })
  const done = { type: 'response.output_item.done', output_index, item }
  if (item.type === 'message') {
    const [part] = item.content
    return [
      added({ content: [] }),
      { type: 'response.content_part.added', content_index: 0, ...at, part: { ...part, text: '' } },
      ...pieces(part.text).map((delta) => ({
        type: 'response.output_text.delta',
        content_index: 0,
        ...at,
        delta,
      })),
      { type: 'response.output_text.done', content_index: 0, ...at, text: part.text },
      { type: 'response.content_part.done', content_index: 0, ...at, part },
      done,
    ]
  }
  if (item.type !== 'function_call') return [added({}), done]
  return [
    added({ arguments: '' }),
    ...pieces(item.arguments).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...at,
      delta,
    })),
    { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
    done,
  ]
}
