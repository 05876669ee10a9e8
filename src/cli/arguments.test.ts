import { describe, expect, test } from 'vitest'
import { cut, parse as parseLine, readGlobals } from './arguments.ts'
import { commands } from './commands.ts'

const parse = (argv: readonly string[]) => parseLine(cut(argv))

const refused = (...argv: string[]) => {
  try {
    parse(argv)
  } catch (error) {
    return error as { code: string; message: string; hint: string }
  }
  throw new Error(`${argv.join(' ')} was taken`)
}

describe('parse', () => {
  test.each(commands.map(({ name }) => name))(
    'I1: %s is found by its name, and its --help needs no more',
    (name) => {
      expect(parse([...name.split(' '), '--help'])).toMatchObject({
        command: { name },
        values: { help: true },
      })
    },
  )

  const examples = commands.flatMap(({ name, examples }) => examples.map((example) => ({ name, example })))
  test.each(examples)('I1: the example works as it stands: $example', ({ name, example }) => {
    // What a shell would run: the command in brackets, if there is one.
    const line = /\$\((.*)\)/.exec(example)?.[1] ?? example.replace(/^\w+=\S+ /, '').replace(/ (\||&&).*/, '')
    const [program, ...argv] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, inner]) => inner ?? word)
    expect(program).toBe('offshoot')
    const found = parse(argv).command?.name
    expect([name, 'cd', 'completion']).toContain(found)
  })

  test('I1: options may stand before, between and after the words', () => {
    for (const line of [
      '-C x --json worktree remove T1',
      'worktree remove T1 --json -C x',
      'worktree remove --json -Cx T1',
    ]) {
      expect({ line, ...parse(line.split(' ')) }).toMatchObject({
        line,
        command: { name: 'worktree remove' },
        values: { directory: 'x', json: true },
        positionals: ['T1'],
      })
    }
  })

  test('I1: what follows -- is a name, not an option; for run and exec, a command', () => {
    expect(parse(['start', '--', '-x'])).toMatchObject({ positionals: ['-x'], rest: [] })
    expect(parse(['exec', 'T1', '--', 'ls', '--json'])).toMatchObject({
      values: {},
      positionals: ['T1'],
      rest: ['ls', '--json'],
    })
    expect(refused('start', 'a', '--', 'b')).toMatchObject({ code: 'WT_019' })
  })

  test('I1: how to answer is known also of a line that has something wrong in it', () => {
    const globals = (...argv: string[]) => ({ ...readGlobals(cut(argv)) })
    expect(globals('lisst', '--json')).toMatchObject({ json: true })
    expect(globals('start', '-C', '--json')).toMatchObject({ json: true })
    expect(globals('start', '--form', 'x', '--no-color')).toMatchObject({ 'no-color': true })
    expect(globals('exec', 'T1', '--', 'ls', '--json')).toEqual({})
  })

  test.each([
    [['exec', '--', 'ls'], '`exec`: missing argument TASK.'],
    [['compare', 'T1'], '`compare`: missing argument TASK.'],
    [['repos', 'forget'], '`repos forget`: missing argument PATH.'],
    [['diff', 'a', 'b'], '`diff`: unexpected argument "b".'],
    [['doctor', 'T1'], '`doctor`: unexpected argument "T1".'],
    [['show', ''], '`show`: argument TASK is empty.'],
    [['worktree', 'show', '--task='], '`worktree show`: option --task is empty.'],
    [['start', '--form=x'], '`start`: unknown option --form.'],
    [['strat'], 'Unknown command "strat".'],
    [['accept', 'T1', '--as', 'frob'], 'Unknown strategy "frob".'],
    [['start', '--isolation', 'jail'], 'Unknown isolation "jail".'],
    [['run', '--policy', 'lax', 'x'], 'Unknown policy "lax".'],
    [['list', '--state', 'gone'], 'Unknown state "gone".'],
    [['update', '--conflicts', 'x'], 'Unknown conflict handling "x".'],
    [['completion', 'csh'], 'Unknown shell "csh".'],
    [['accept', '--as'], '`accept`: option --as needs a value.'],
    [['accept', '--as', '--keep'], '`accept`: option --as needs a value.'],
    [['list', '--all=1'], '`list`: option --all takes no value.'],
    [['-C'], 'Option --directory needs a value.'],
  ] as const)('I5: of %j it says: %s', (argv, message) => {
    expect(refused(...argv)).toMatchObject({ code: 'WT_019', message })
  })

  test('I5: an unknown value is told together with those that are allowed', () => {
    expect(refused('accept', '--as', 'frob').hint).toBe(
      '--as takes one of: patch, squash, merge, rebase, keep-branch, pr',
    )
    expect(parse(['accept', '--as', 'squash']).values.as).toBe('squash')
  })

  test('I1: nothing is asked for: no command', () => {
    expect(parse([]).command).toBeUndefined()
    expect(parse(['--json']).command).toBeUndefined()
  })

  test.each([
    [['strat'], /start/],
    [['worktree', 'prun'], /worktree prune/],
    [['quux', 'else'], /--help/],
    [['start', '--form=x'], /--from/],
    [['start', '--zzzzzzzzz'], /offshoot start --help/],
    [['start', 'a', 'b'], /Usage: offshoot start \[TASK\]/],
    [['completion'], /Usage: offshoot completion/],
    [['start', '--from'], /offshoot start --help/],
    [['accept', '--as'], /--as takes one of: patch, squash/],
    [['completion', 'csh'], /SHELL takes one of: bash, zsh, fish/],
    [['list', '--all=1'], /offshoot list --help/],
    [['undo', ''], /Usage: offshoot undo/],
    [['show', ''], /Usage: offshoot show/],
    [['repos', 'forget', ''], /Usage: offshoot repos forget/],
    [['worktree', 'remove', '--path', ''], /Usage: offshoot worktree remove/],
    [['worktree', 'show', '--task='], /Usage: offshoot worktree show/],
    [['accept', 'T1', '--only', 'a', '--only', ''], /Usage: offshoot accept/],
  ] as const)('I5: %j is wrong usage with a hint', (argv, hint) => {
    expect(refused(...argv)).toMatchObject({ code: 'WT_019', hint: expect.stringMatching(hint) })
  })
})
