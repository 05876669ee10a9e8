/** Small faults put into the sources, one at a time: each breaks a feature that a test of test/seeds names, and that test must fail. */

/** `find` occurs exactly once in `file`; `suites` are arguments of vitest. */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly suites: readonly string[]
}

const session = 'test/seeds/worktree-per-session.test.ts'
const shadow = 'test/seeds/shadow-branch-session.test.ts'
const supervisor = 'test/seeds/agent-supervisor.test.ts'
const atOnce = 'test/seeds/agents-at-once.test.ts'
const perTask = (name: string) => `test/seeds/worktree-per-task/${name}.test.ts`

export const mutants: readonly Mutant[] = [
  {
    name: 'an unkept step is forgotten when its run did not end',
    file: 'src/core/tasks/liveness.ts',
    find: 'if (task.unkept && task.reason !== undefined)',
    replace: 'if (task.unkept && task.reason === undefined)',
    suites: [shadow],
  },
  {
    name: 'a missing workspace is not stale',
    file: 'src/core/tasks/liveness.ts',
    find: "if (kind !== 'folder') return 'its workspace is gone'",
    replace: "if (kind === 'link') return 'its workspace is gone'",
    suites: [supervisor, atOnce],
  },
  {
    name: 'a task that nobody used is not stale',
    file: 'src/core/tasks/liveness.ts',
    find: 'return age > (await maxAgeDays(origin)) * day ?',
    replace: 'return age > (await maxAgeDays(origin)) * day * 1000 + day ?',
    suites: [supervisor],
  },
  {
    name: 'a closed task does not say what closed it',
    file: 'src/core/operations/new.ts',
    find: "typeof record.to.closedAt === 'string' ? closedBy(by, record) : record",
    replace: 'record',
    suites: [shadow, perTask('life')],
  },
  {
    name: 'worktree list leaves the checkout out',
    file: 'src/core/verbs/worktrees.ts',
    find: '[...(main ? [main] : []), ...found]',
    replace: '[...found]',
    suites: [supervisor, perTask('life'), perTask('command')],
  },
  {
    name: 'worktree list leaves those of others out',
    file: 'src/core/verbs/worktrees.ts',
    find: 'const found = linked.toSorted(',
    replace: 'const found = linked.filter(({ name }) => marks.get(name ?? "") !== undefined).toSorted(',
    suites: [supervisor, perTask('life')],
  },
  {
    name: 'no worktree is an orphan',
    file: 'src/core/verbs/worktrees.ts',
    find: 'isOrphan: name !== null && uid !== undefined && !task,',
    replace: 'isOrphan: false,',
    suites: [perTask('life')],
  },
  {
    name: 'an unknown folder is no orphan',
    file: 'src/core/recovery/judge.ts',
    find: '    orphan: { ...found, repo, task: task?.id ?? null },\n',
    replace: '    orphan: undefined,\n',
    suites: [perTask('life')],
  },
  {
    name: 'orphans are not logged',
    file: 'src/core/recovery/reconcile.ts',
    find: '  await logOrphans(ports, reported)\n',
    replace: '',
    suites: [session, perTask('life')],
  },
  {
    name: 'orphans are logged again each time',
    file: 'src/core/recovery/reconcile.ts',
    find: 'if (known.has(path) || !bearer) continue',
    replace: 'if (!bearer) continue',
    suites: [perTask('life')],
  },
  {
    name: 'recover does nothing',
    file: 'src/core/recovery/reconcile.ts',
    find: 'const { recovered, reported } = await reconcile(ports, undefined, signal)',
    replace: 'const { recovered, reported } = { recovered: [], reported: [] } as Recovered',
    suites: [session],
  },
  {
    name: 'switched off, the settings of the user do not count',
    file: 'src/core/verbs/run-direct.ts',
    find: "if (!enabled && settings.isolation.fallback === 'direct') return settings",
    replace: '',
    suites: [session, atOnce],
  },
  {
    name: 'a repository that switches itself off takes the isolation away',
    file: 'src/core/verbs/run-direct.ts',
    find: "if (!enabled && settings.isolation.fallback === 'direct') return settings",
    replace: "if (settings.isolation.fallback === 'direct') return settings",
    suites: [session],
  },
  {
    name: '--isolation direct is ignored',
    file: 'src/cli/commands/run.ts',
    find: "if (text(context.values, 'isolation') === 'direct')",
    replace: "if (text(context.values, 'isolation') === 'never')",
    suites: [session, atOnce],
  },
  {
    name: 'no verb warns of a full disk',
    file: 'src/api/call.ts',
    find: 'return action.makes && !previews(action, input) ?',
    replace: 'return false ?',
    suites: [perTask('policies-and-limits')],
  },
  {
    name: 'prune deletes branches although it is told to keep them',
    file: 'src/core/closing/prune-policy.ts',
    find: '...(keepBranches && { keepsBranch: true as const })',
    replace: '',
    suites: [perTask('life')],
  },
  {
    name: 'prune ignores the age that it is given',
    file: 'src/cli/commands/prune.ts',
    find: 'olderThanMs: ageOf(olderThan, hours),',
    replace: 'olderThanMs: undefined,',
    suites: [supervisor],
  },
  {
    name: 'run ignores --from',
    file: 'src/core/verbs/run.ts',
    find: 'base, from, branch, isolation, ...heard }',
    replace: 'base, branch, isolation, ...heard }',
    suites: [atOnce],
  },
  {
    name: 'run ignores --branch',
    file: 'src/core/verbs/run.ts',
    find: 'base, from, branch, isolation, ...heard }',
    replace: 'base, from, isolation, ...heard }',
    suites: [atOnce],
  },
  {
    name: 'no tool is allowed by default',
    file: 'src/core/model/settings.ts',
    find: "allowed: ['Read', 'Glob', 'Grep', 'LS']",
    replace: 'allowed: []',
    suites: [supervisor],
  },
  {
    name: 'what may be read may be read anywhere',
    file: 'src/core/runs/policy.ts',
    find: 'const why = trouble?.reason ?? unreadOf(call) ?? outsideOf(call, place)',
    replace: 'const why = trouble?.reason ?? unreadOf(call)',
    suites: [supervisor],
  },
  {
    name: 'strict denies the allowed tools, too',
    file: 'src/core/runs/policy.ts',
    find: 'if (allowed === undefined) return deny(`${call.name} is not among the allowed tools`)',
    replace: 'return deny(`${call.name} is not among the allowed tools`)',
    suites: [supervisor],
  },
  {
    name: '--auto-continue is ignored',
    file: 'src/core/verbs/run.ts',
    find: 'ask: input.autoContinue ? undefined : onlooker?.ask,',
    replace: 'ask: onlooker?.ask,',
    suites: [supervisor],
  },
  {
    name: 'leftovers of a failed tool land unnamed',
    file: 'src/core/landing/preview.ts',
    find: ', ...leftoverRisks(leftovers)]',
    replace: ']',
    suites: [shadow],
  },
  {
    name: '--without-failed is ignored',
    file: 'src/core/landing/offer.ts',
    find: 'const unwanted = choice.withoutFailed ? failed : []',
    replace: 'const unwanted: typeof failed = []',
    suites: [shadow],
  },
  {
    name: 'accept.leftovers is ignored',
    file: 'src/core/verbs/accept.ts',
    find: "preset.leftovers === 'leave'",
    replace: "preset.leftovers === ('never' as string)",
    suites: [shadow],
  },
  {
    name: 'an adopted branch is deleted on removal',
    file: 'src/core/operations/close.ts',
    find: 'Boolean(options.keepBranch) || task.adopted ||',
    replace: 'Boolean(options.keepBranch) ||',
    suites: [perTask('life')],
  },
  {
    name: 'keepBranch of a removal is ignored',
    file: 'src/core/operations/close.ts',
    find: 'Boolean(options.keepBranch) || task.adopted ||',
    replace: 'task.adopted ||',
    suites: [perTask('life')],
  },
  {
    name: 'worktree is no group of commands',
    file: 'src/cli/find-command.ts',
    find: "(words.length === 1 ? findGroup(commands, words[0] ?? '') : undefined)",
    replace: "(words.length === 7 ? findGroup(commands, words[0] ?? '') : undefined)",
    suites: [supervisor],
  },
  {
    name: 'findByPath finds nothing',
    file: 'src/core/tasks/find.ts',
    find: 'return records.store.findTaskByPath(path.resolve(workspace))',
    replace: "return records.store.findTaskByPath(path.resolve(workspace, 'elsewhere'))",
    suites: [perTask('made')],
  },
]
