/** The tools of the MCP door: every action that the caller may ask for, as the table and the schemas describe it. Pure. */
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Action, Option } from '../actions/action.ts'
import { type ActionName, actions } from '../actions/index.ts'
import type { Caller } from '../api/caller.ts'
import { schemas } from '../protocol/schemas/index.ts'

const names = Object.keys(actions) as ActionName[]

/** `task_accept` for `task.accept`: several models take no dot in the name of a tool. */
export function toolName(action: ActionName): string {
  return action.replaceAll('.', '_')
}

/** Undefined when no action has that name. */
export function findAction(tool: string): ActionName | undefined {
  return names.find((action) => toolName(action) === tool)
}

/**
 * The tools in the order of the table. Hiding one is no protection: whoever calls it all the same is refused, or their wish
 * recorded, by the same check as at every door. Without a default folder each call must name its repository.
 */
export function toolsFor(caller: Caller, hasFolder: boolean): Tool[] {
  return names
    .filter((action) => isOffered(caller, actions[action]))
    .map((action) => tool(caller, action, hasFolder))
}

function isOffered(caller: Caller, action: Action): boolean {
  if (caller.kind === 'user') return true
  if (caller.kind === 'token') return caller.scopes.includes(action.scope)
  return action.forAgent !== undefined || isWish(caller, action)
}

/** An agent may not land its own work; asking for it tells the user that the agent wants it. */
function isWish(caller: Caller, { forAgent, group }: Action): boolean {
  return caller.kind === 'agent' && forAgent === undefined && group === 'land'
}

function tool(caller: Caller, name: ActionName, hasFolder: boolean): Tool {
  const action = actions[name]
  const { summary, scope, destructive = false, idempotent = false } = action
  const looks = scope === 'look'
  const wish = isWish(caller, action)
    ? ' Only the user may do this: asking for it tells them that you want it.'
    : ''
  return {
    name: toolName(name),
    description: `${summary}.${wish}`,
    inputSchema: inputSchema(name, hasFolder),
    annotations: {
      readOnlyHint: looks,
      destructiveHint: destructive,
      idempotentHint: looks || idempotent,
      ...(looks && { openWorldHint: false }),
    },
  }
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/** The schema of the action as JSON Schema, each field with its help from the table. */
function inputSchema(name: ActionName, hasFolder: boolean): Tool['inputSchema'] {
  const options: Readonly<Record<string, Option>> = actions[name].options
  const { properties = {}, required = [] } = z.toJSONSchema(schemas[name].input, {
    io: 'input',
    override: tidy,
  })
  const described = Object.entries(properties).map(([field, schema]) => {
    const own = schema as JsonSchema
    const help = own.description ?? options[field]?.help
    return [field, { ...own, ...(help !== undefined && { description: help }) }]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(described) as Tool['inputSchema']['properties'],
    required: required.filter((field) => field !== 'repo' || !hasFolder),
    additionalProperties: false,
  }
}

/** Leaves out what tells a model nothing: bounds of safe integers, the pattern of a format, and that a list is not changed here. */
function tidy({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  delete jsonSchema.readOnly
}
