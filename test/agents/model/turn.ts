/** What the scripted model says in one turn. */
export interface Turn {
  readonly text?: string
  readonly tools?: readonly ScriptedCall[]
  /** Answers with an error instead, every time. */
  readonly fail?: { readonly status: number; readonly message: string }
  /** Breaks the connection off in the middle of its first answer; the next one is whole. */
  readonly drop?: boolean
}

export interface ScriptedCall {
  readonly name: string
  /** Text for tools that take no JSON. */
  readonly input: object | string
  /** Of a call that starts a subagent: what the model says to it. The subagent is known by the `prompt` of the input. */
  readonly subagent?: readonly Turn[]
}

/** A request as far as the script cares. */
interface Conversation {
  readonly model: string
  readonly stream: boolean
  /** One without tools is a side request: for a title, a summary. */
  readonly hasTools: boolean
  readonly answersSoFar: number
  /** Tools that take text. */
  readonly textTools: ReadonlySet<string>
}

/** An answer in one piece, and as the events of a stream. */
export interface Answer {
  readonly whole: object
  readonly events: readonly { readonly name?: string; readonly data: object | string }[]
}

/** One way in which model servers speak. */
export interface Dialect {
  readonly path: RegExp
  read(body: Body, url: string): Conversation
  answer(turn: Turn, model: string, textTools: ReadonlySet<string>): Answer
}

// oxlint-disable-next-line typescript/no-explicit-any -- whatever an agent sends
export type Body = Record<string, any>

let serial = 0
export const newId = (prefix: string) => `${prefix}_${String(++serial).padStart(6, '0')}`

export const usage = { input: 10, output: 5 }

/** Streams come in pieces, and agents must put them together. */
export const pieces = (text: string) => text.match(/[\s\S]{1,24}/g) ?? ['']
