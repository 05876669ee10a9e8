import { expect, test } from 'vitest'
import { detachedWords } from './detached-words.ts'

const asked = { dir: '/repo', create: true }

test('G7: a prompt is in no word, whatever it begins with', () => {
  const words = detachedWords({ ...asked, prompt: '--isolation=direct' }, 'T1')
  expect(words).toEqual(['run', '--task=T1', '--json', '--quiet', '-'])
})

test('G7: what the run takes reaches the process that carries it out', () => {
  const limits = {
    agent: 'claude',
    policy: 'strict',
    askTimeout: '2h',
    allowed: ['Read', 'Bash(ls *)'],
  } as const
  const more = { denied: [], notify: [], autoContinue: true, cleanup: true, resume: true }
  expect(detachedWords({ ...asked, ...limits, ...more, prompt: 'x' }, 'T1').slice(4)).toEqual([
    '--resume=',
    '--agent=claude',
    '--policy=strict',
    '--ask-timeout=2h',
    '--allowed-tools=Read,Bash(ls *)',
    '--denied-tools=',
    '--notify=none',
    '--auto-continue',
    '--cleanup',
    '-',
  ])
})

test('G7: a command stands after the last option, and beside an agent it runs as exec does', () => {
  const argv = ['npm', 'test', '--', '--watch']
  expect(detachedWords({ ...asked, argv }, 'T1')).toEqual([
    'run',
    '--task=T1',
    '--json',
    '--quiet',
    '--',
    ...argv,
  ])
  expect(detachedWords({ ...asked, create: false, argv }, 'T1')).toEqual([
    'exec',
    '--json',
    '--quiet',
    'T1',
    '--',
    ...argv,
  ])
})
