/** Reads every hint out of the sources: all that an error, a check or an answer tells the user to do or to type. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'rolldown/utils'
import { namesCommand } from './commands.ts'

/** One hint. `{}` in its text stands for what the code fills in. */
export interface Hint {
  /** Below `src`. */
  readonly file: string
  readonly text: string
}

/** Files whose texts name commands and are no hints, with the reason. */
const otherFiles: Readonly<Record<string, string>> = {
  'actions/': 'the options of --help, which docs/commands.md repeats',
  'cli/commands.ts': 'the commands of --help; src/cli/help.test.ts reads its examples',
  'cli/commands/completion.ts': 'scripts for shells',
  'client/proof.ts': 'the text that a daemon signs',
  'cli/unit-file.ts': 'files for systemd and launchd',
  'cli/help.ts': 'the frame of --help',
  'protocol/events.ts': 'descriptions of events',
  'protocol/schemas/': 'descriptions of JSON',
  'settings/schema.ts': 'descriptions of settings, which docs/settings.md repeats',
}

// oxlint-disable-next-line typescript/no-explicit-any -- a node of any kind: https://github.com/estree/estree
type Node = { readonly type: string } & Readonly<Record<string, any>>

interface Source {
  readonly file: string
  /** Every node but types, each before those below it. */
  readonly nodes: readonly Node[]
}

/** All of them, each once per file. Throws where a hint comes from a place that cannot be followed. */
export function collectHints(root: string): Hint[] {
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  return hintsOf(
    files.toSorted().map((file) => ({ file, code: readFileSync(path.join(root, file), 'utf8') })),
  )
}

/** The same for sources at hand. Pure. */
function hintsOf(files: readonly { readonly file: string; readonly code: string }[]): Hint[] {
  const sources = files.map(({ file, code }) => ({ file, nodes: nodesOf(parseSync(file, code).program) }))
  const takers = hintTakers(sources)
  const found = new Set<Node>()
  for (const source of sources.filter(({ file }) => !isOther(file))) {
    for (const node of source.nodes)
      for (const value of hintValues(node, takers)) follow(value, source, sources, found)
    for (const text of namingCommands(source, found)) found.add(text)
  }
  const hints = sources.flatMap(({ file, nodes }) =>
    nodes.flatMap((node) => (found.has(node) ? [{ file, text: textOf(node) }] : [])),
  )
  const byName = new Map(hints.map((hint) => [`${hint.file}: ${hint.text}`, hint]))
  // What is only joined has its parts elsewhere.
  return [...byName.values()].filter(({ text }) => /[a-z]/i.test(text))
}

/** Every text in a source, as it is written. */
export function textsOf(file: string, code: string): string[] {
  return nodesOf(parseSync(file, code).program).filter(isText).map(textOf)
}

const isOther = (file: string) => Object.keys(otherFiles).some((other) => file.startsWith(other))

function nodesOf(tree: Node): Node[] {
  const nodes: Node[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit)
    else if (isNode(value)) {
      nodes.push(value)
      Object.values(value).forEach(visit)
    }
  }
  visit(tree)
  return nodes
}

/** Of the nodes of TypeScript alone only those that hold a value. */
const valued = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  (!value.type.startsWith('TS') || valued.has(value.type))

const isText = ({ type, value }: Node) =>
  type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string')

function textOf(node: Node): string {
  if (node.type === 'Literal') return String(node.value)
  return node.quasis.map(({ value }: Node) => String(value.cooked)).join('{}')
}

/** The functions with a parameter `hint`, and its place. */
function hintTakers(sources: readonly Source[]): ReadonlyMap<string, number> {
  const named = sources.flatMap(({ nodes }) =>
    nodes.flatMap((node): [string, Node][] => {
      if (node.type === 'FunctionDeclaration') return [[node.id?.name, node]]
      const isFunction = node.type === 'VariableDeclarator' && node.init?.type === 'ArrowFunctionExpression'
      return isFunction ? [[node.id.name, node.init]] : []
    }),
  )
  const places = named.map(([name, { params }]): [string, number] => [
    name,
    params.findIndex((param: Node) => (param.left ?? param).name === 'hint'),
  ])
  return new Map(places.filter(([, place]) => place !== -1))
}

/** The expressions that the node makes a hint of. */
function hintValues(node: Node, takers: ReadonlyMap<string, number>): Node[] {
  if (node.type === 'Property' && node.key.name === 'hint')
    return node.value.type === 'AssignmentPattern' ? [node.value.right] : [node.value]
  if (node.type === 'AssignmentPattern' && node.left.name === 'hint') return [node.right]
  const place = node.type === 'CallExpression' ? takers.get(node.callee.name) : undefined
  return place === undefined ? [] : node.arguments.slice(place, place + 1)
}

/** Adds the texts that the expression can come to. What is filled into a text is not followed. */
function follow(node: Node, source: Source, sources: readonly Source[], found: Set<Node>): void {
  const on = (...next: (Node | null | undefined)[]) => {
    for (const one of next) if (one) follow(one, source, sources, found)
  }
  switch (node.type) {
    case 'Literal':
    case 'TemplateLiteral':
      if (isText(node)) found.add(node)
      return
    case 'ConditionalExpression':
      return on(node.consequent, node.alternate)
    case 'LogicalExpression':
      return on(node.left, node.right)
    case 'ArrayExpression':
      return on(...node.elements)
    case 'SpreadElement':
    case 'AwaitExpression':
    case 'ParenthesizedExpression':
      return on(node.argument ?? node.expression)
    case 'CallExpression':
      // Of `hints.join(' ')` the list counts, not what is between.
      return on(node.callee.type === 'MemberExpression' ? node.callee.object : node.callee)
    case 'Identifier':
      return followName(node.name, source, sources, found)
    case 'MemberExpression':
      // The hint of another error, or of a check.
      if (node.property.name === 'hint') return undefined
  }
  throw new Error(`${source.file}: a hint comes from a ${node.type}, which is not followed`)
}

function followName(name: string, source: Source, sources: readonly Source[], found: Set<Node>): void {
  const here = declarations(name, source)
  // A parameter, or a name out of an object: whoever calls, or made the object, is read there.
  if (name === 'undefined' || (here.length === 0 && isBound(name, source))) return
  const places = here.length > 0 ? [source] : sources.filter((other) => declarations(name, other).length > 0)
  for (const place of places)
    for (const node of declarations(name, place))
      for (const value of valuesOf(node)) follow(value, place, sources, found)
  if (places.length === 0) throw new Error(`${source.file}: a hint comes from ${name}, which is not found`)
}

const declarations = (name: string, { nodes }: Source) =>
  nodes.filter(
    ({ type, id, init }) =>
      (type === 'FunctionDeclaration' || (type === 'VariableDeclarator' && init)) && id?.name === name,
  )

const isBound = (name: string, { nodes }: Source) =>
  nodes.some(
    ({ type, value, params }) =>
      (type === 'Property' && (value.left ?? value).name === name) ||
      params?.some?.((param: Node) => (param.left ?? param).name === name),
  )

/** What a constant is, or what a function answers. */
function valuesOf({ type, init, body }: Node): Node[] {
  if (type === 'FunctionDeclaration') return returned(body)
  if (init.type !== 'ArrowFunctionExpression') return [init]
  return init.body.type === 'BlockStatement' ? returned(init.body) : [init.body]
}

const returned = (body: Node) =>
  nodesOf(body).flatMap(({ type, argument }) => (type === 'ReturnStatement' && argument ? [argument] : []))

/** The other texts that name a command, such as the next steps that an answer ends with. */
function namingCommands({ nodes }: Source, found: ReadonlySet<Node>): Node[] {
  const named = nodes.filter((node) => isText(node) && namesCommand(textOf(node)))
  const within = new Set([...found, ...named].flatMap((text) => nodesOf(text).slice(1)))
  return named.filter((text) => !within.has(text))
}
