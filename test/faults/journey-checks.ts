/** What is wrong with the state after recovery, verb by verb. What is wrong for all of them is in invariants.ts. */
import { difference } from './folder-tree.ts'
import { ourBranch, type Snapshot } from './full-snapshot.ts'

export interface Seen {
  readonly before: Snapshot
  readonly after: Snapshot
  /** The verb said that it was done. */
  readonly acknowledged: boolean
}

/** Whole: one more open task. Undone: nothing of it, not even the log of its branch. */
export function startedOrUndone({ before, after, acknowledged }: Seen): string[] {
  if (after.open.length > 0) return []
  return [
    ...(acknowledged ? ['the start was acknowledged, and there is no task'] : []),
    ...difference(withoutMark(before), withoutMark(after)).map((line) => `undone, but ${line}`),
    ...after.ourLogs.map((log) => `undone, but ${log} is left`),
    ...Object.keys(after.registrations).map((name) => `undone, but worktrees/${name} is left`),
    ...Object.keys(after.workspaces).map((name) => `undone, but the workspace ${name} is left`),
  ]
}

/** The repository stays known: that is not undone. */
function withoutMark({ ourRefs }: Snapshot): Snapshot['ourRefs'] {
  const { 'refs/offshoot/repo': _, ...rest } = ourRefs
  return rest
}

/** Whole: the folder is there again. Undone: it is missing as before, and the task is open as before. */
export function recreatedOrUndone({ before, after, acknowledged }: Seen): string[] {
  const there = Object.keys(after.workspaces).length === 1
  return [
    ...(after.open.length === 1 ? [] : ['the task is gone']),
    ...(acknowledged && !there ? ['the start was acknowledged, and there is no workspace'] : []),
    ...(!there && Object.keys(after.registrations).length > Object.keys(before.registrations).length
      ? ['undone, but a registration is left']
      : []),
  ]
}

/** Not begun: as it was. Begun: gone, and every byte of the workspace is in the trash. */
export function removedOrUntouched(keepsBranch: boolean) {
  return ({ before, after, acknowledged }: Seen): string[] => {
    const [name] = Object.keys(before.workspaces)
    const workspace = before.workspaces[name!]!
    if (after.open.length > 0) {
      return [
        ...(acknowledged ? ['the removal was acknowledged, and the task is open'] : []),
        ...difference(before.ourRefs, after.ourRefs).map((line) => `not removed, but ${line}`),
        ...difference(before.registrations, after.registrations).map((line) => `not removed, but ${line}`),
        ...difference(before.workspaces, after.workspaces).map((line) => `not removed, but ${line}`),
      ]
    }
    const [task] = after.closed
    const kept = after.ourRefs[`refs/offshoot/trash/${task?.uid}`]
    const inTrash = Object.entries(after.trash[name!] ?? {})
      .filter(([file]) => file.startsWith('workspace/'))
      .map(([file, value]) => [file.slice('workspace/'.length), value])
    return [
      ...difference(workspace, Object.fromEntries(inTrash)).map((line) => `in the trash, ${line}`),
      ...Object.keys(after.workspaces).map((left) => `removed, but the workspace ${left} is left`),
      ...Object.keys(after.registrations).map((left) => `removed, but worktrees/${left} is left`),
      ...('HEAD' in (before.registrations[name!] ?? {}) &&
      !('registration/HEAD' in (after.trash[name!] ?? {}))
        ? ['the registration is not in the trash']
        : []),
      ...(keepsBranch === ourBranch in after.ourRefs
        ? []
        : [`the branch is ${keepsBranch ? 'gone' : 'left'}`]),
      ...(keepsBranch || kept === before.ourRefs[ourBranch]
        ? []
        : ['the commits of the branch are not held']),
      ...Object.keys(after.ourRefs)
        .filter((ref) => ref.startsWith('refs/offshoot/base/'))
        .map((ref) => `removed, but ${ref} is left`),
    ]
  }
}

/** A10: asked for, and the folder is in the trash while the branch stays; or open as before. */
export function askedOrNot(seen: Seen): string[] {
  if (seen.after.open.length === 0) return removedOrUntouched(true)({ ...seen, acknowledged: true })
  const { before, after, acknowledged } = seen
  return [
    ...(acknowledged ? ['the accept was acknowledged, and the task is open'] : []),
    ...difference(before.workspaces, after.workspaces).map((line) => `not asked for, but ${line}`),
    ...difference(before.registrations, after.registrations)
      .filter((line) => !line.endsWith('changed'))
      .map((line) => `not asked for, but ${line}`),
  ]
}

/** R7: the workspace has its git again, or is as it was. */
export function mendedOrNot({ before, after, acknowledged }: Seen): string[] {
  const [name = ''] = Object.keys(before.workspaces)
  const { '.git': link, ...files } = after.workspaces[name] ?? {}
  return [
    ...(acknowledged && link === undefined ? ['the repair was acknowledged, and there is no .git'] : []),
    ...difference(before.workspaces[name] ?? {}, files).map((line) => `the workspace: ${line}`),
  ]
}

/** Each by itself: gone, with its folder in the trash, or as it was. */
export function eachPrunedOrUntouched({ before, after, acknowledged }: Seen): string[] {
  return Object.entries(before.workspaces).flatMap(([name, workspace]) => {
    const there = after.workspaces[name]
    if (there) {
      const said = acknowledged ? [`the prune was acknowledged, and ${name} is there`] : []
      return [...said, ...difference(workspace, there).map((line) => `not pruned, but ${line}`)]
    }
    const inTrash = Object.entries(after.trash[name] ?? {})
      .filter(([file]) => file.startsWith('workspace/'))
      .map(([file, value]) => [file.slice('workspace/'.length), value])
    return difference(workspace, Object.fromEntries(inTrash)).map((line) => `in the trash, ${line}`)
  })
}

/** One more step, which is the workspace as it is, and the branch has it; or as before. */
export function takenOrNot({ before, after, acknowledged }: Seen): string[] {
  const [[uid, had] = ['', []]] = Object.entries(before.steps)
  const steps = after.steps[uid] ?? []
  const news = steps.length - had.length
  return [
    ...(news === 0 || news === 1 ? [] : [`${news} new steps`]),
    ...(acknowledged && news === 0 ? ['the step was acknowledged, and there is none'] : []),
    ...(acknowledged && after.open[0]?.checkpoints !== steps.length - 1 ? ['its event is missing'] : []),
    ...(acknowledged && !after.open[0]?.unpublished && before.ourRefs[ourBranch] === after.ourRefs[ourBranch]
      ? ['it was acknowledged, and the branch is where it was']
      : []),
    ...difference(before.workspaces, after.workspaces).map((line) => `the workspace: ${line}`),
  ]
}

/** G6: whatever is there of the commands is in no step, and nothing else has changed. */
export function installedOrNot({ before, after, acknowledged }: Seen): string[] {
  const [folder = ''] = Object.keys(before.workspaces)
  const [had, has] = [before.workspaces[folder] ?? {}, after.workspaces[folder] ?? {}]
  const there = Object.keys(has).filter((name) => name.startsWith('.claude/'))
  const rest = difference(had, has).filter((line) => !line.includes('.claude'))
  return [
    ...(acknowledged && there.length === 0 ? ['acknowledged, and nothing is there'] : []),
    ...rest.map((line) => `the workspace: ${line}`),
    ...difference(before.steps, after.steps).map((line) => `the steps: ${line}`),
  ]
}

/** Whatever the command did is in the last step, and the run has ended; or nothing was done. */
export function sweptUp({ before, after, acknowledged }: Seen): string[] {
  const [name = ''] = Object.keys(before.workspaces)
  const ran = 'ran.txt' in (after.workspaces[name] ?? {})
  const { state, runs, reason } = after.open[0] ?? { state: 'gone', runs: 0 }
  const killed = reason?.endsWith('exit code 137')
  return [
    ...(acknowledged && !killed && (state !== 'completed' || !ran) ? [`acknowledged, but ${state}`] : []),
    ...(!acknowledged && runs > 0 && state !== 'failed' && state !== 'completed'
      ? [`the run has ended, and the task is ${state}`]
      : []),
    ...(ran || difference(before.workspaces, after.workspaces).length === 0 ? [] : ['the workspace changed']),
  ]
}

/** R7: the open task is there with its workspace, its git, its refs and its steps, and so is what was done before. */
export function broughtBack({ after }: Seen): string[] {
  const [task, ...more] = after.open
  if (!task || more.length > 0) return [`${after.open.length} open tasks`]
  return [
    ...(ourBranch in after.ourRefs ? [] : ['the branch is gone']),
    ...(`refs/offshoot/base/${task.uid}` in after.ourRefs ? [] : ['the pin is gone']),
    ...(after.steps[task.uid]?.length === 3 ? [] : [`${after.steps[task.uid]?.length} steps`]),
    ...(task.checkpoints === 2 ? [] : [`a record of ${task.checkpoints} steps`]),
    ...(after.operations.length === 1 ? [] : [`${after.operations.length} operations`]),
  ]
}
