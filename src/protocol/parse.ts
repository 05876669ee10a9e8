/** Parses a request from a wire: finds the action it names and validates its input. */
import type { z } from 'zod'
import { type ActionName, aliases } from '../actions/index.ts'
import { AppError } from '../core/model/errors.ts'
import { type Input, schemas } from './schemas/index.ts'

export type Request =
  | {
      readonly [A in ActionName]: { readonly ok: true; readonly action: A; readonly input: Input<A> }
    }[ActionName]
  /** `field` is the path of the invalid field: `steps.0`. */
  | { readonly ok: false; readonly problem: string; readonly field?: string }

/** `parseRequest('worktree.show', { repo: '.' })` means `task.show`. An unknown field is refused. */
export function parseRequest(name: string, input: unknown): Request {
  const action = findAction(name)
  if (action === undefined) return { ok: false, problem: `Unknown action ${JSON.stringify(name)}.` }
  const schema: z.ZodObject = schemas[action].input
  const parsed = schema.strict().safeParse(input)
  if (parsed.success) return { ok: true, action, input: parsed.data } as Request
  const [issue] = parsed.error.issues
  const field = issue?.path.join('.')
  return { ok: false, problem: issue?.message ?? 'Invalid input', ...(field && { field }) }
}

/** The input, if the action's schema takes it. Throws `wrongUsage` that names the field; `hint` says where the schema is told. */
export function requireInput<A extends ActionName>(
  action: A,
  input: Input<A>,
  hint = 'docs/library.md lists what each verb takes.',
): Input<A> {
  const request = parseRequest(action, input)
  if (request.ok) return request.input as Input<A>
  const { problem, field } = request
  throw new AppError('wrongUsage', `${action}${field === undefined ? '' : `, field ${field}`}: ${problem}`, {
    hint,
  })
}

/** The action of that name, or of that second name. */
export function findAction(name: string): ActionName | undefined {
  if (Object.hasOwn(aliases, name)) return aliases[name as keyof typeof aliases]
  return Object.hasOwn(schemas, name) ? (name as ActionName) : undefined
}
