/** Identifies processes beyond their pid, and ends the children of a killed owner. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../core/model/errors.ts'
import type { LeftBehind } from '../core/model/git.ts'
import type { Processes } from '../core/ports/processes.ts'
import type { Owner } from '../core/model/task.ts'
import { isAlive } from './alive.ts'
import { endMarked, isMarked } from './marked.ts'
import { findOwnRun } from './own-run.ts'
import { type ChildRecord, readOwners, readRecords, writeRecord } from './records.ts'
import { endGroup, ownerVariable } from './spawn.ts'
import { type ProcessTable, processTable } from './table.ts'

const deadlineMs = 5_000

export interface ProcessRecords extends Processes {
  /**
   * Records a child that leads its own process group, and the git folder in which it changes refs. Returns `forget`.
   */
  recordChild(pid: number, changing?: string): () => void
}

export function processes(folder: string, env: NodeJS.ProcessEnv = {}): ProcessRecords {
  const table = processTable()
  let own: Owner | undefined

  function self(): Owner {
    own ??= { pid: process.pid, startedAt: table.find(process.pid)?.startedAt ?? '', boot: table.boot() }
    return own
  }

  return {
    self,
    recordChild(pid, changing) {
      const entry = table.find(pid)
      return entry ? writeRecord(folder, self(), { ...entry, changing }) : () => {}
    },
    readDeadOwners: () => readOwners(folder, self().boot).filter((owner) => !isAlive(owner)),
    async endChildren(owner, clear) {
      if (isAlive(owner)) return 0
      const records = readRecords(folder, owner)
      const running =
        owner.boot === self().boot ? records.filter((record) => isRunning(table, owner, record)) : []
      for (const { pid } of running) endGroup(pid, 'SIGKILL')
      for (const { pid } of running) await waitForEnd(table, pid)
      await clear?.(records.flatMap((record) => leftBehind(record, running.includes(record))))
      for (const record of records) record.forget()
      return running.length
    },
    endRun: endMarked,
    findRun: () => findOwnRun(env),
  }
}

/** A child that we ended ran until now; of any other we know only the start. */
function leftBehind({ changing, since }: ChildRecord, wasRunning: boolean): LeftBehind[] {
  if (changing === undefined) return []
  return [{ gitDir: changing, from: since, to: wasRunning ? Date.now() : undefined }]
}

/**
 * Whether the recorded child's group still runs. If the leader has another start time, it is a stranger: it could get
 * the pid only after the whole group had ended. Without a leader, the running group keeps the pid reserved. Then it is
 * ours if no member is older than the child. A record is a file that others may have written, so the group has to say
 * itself who made it: it has the session that the child began, and a member has our variable in its environment.
 */
function isRunning(table: ProcessTable, owner: Owner, { pid, startedAt }: ChildRecord): boolean {
  if (startedAt === undefined) return false
  const members = table.inGroup(pid)
  const leader = table.find(pid)
  const isSame = leader
    ? leader.startedAt === startedAt && leader.group === pid
    : members.every((one) => Number(one.startedAt) >= Number(startedAt))
  const running = members.filter((one) => !one.ended)
  return (
    isSame &&
    members.every((one) => one.session === pid) &&
    running.some((one) => isMarked(one.pid, `${ownerVariable}=${owner.pid}`))
  )
}

async function waitForEnd(table: ProcessTable, group: number): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (table.inGroup(group).some((member) => !member.ended)) {
    if (performance.now() > deadline) {
      const message = `The process ${group}, left by an offshoot that was killed, does not end.`
      throw new AppError('failed', message, {
        hint: `End it (kill -9 -- -${group}), then repeat.`,
        data: { pid: group },
      })
    }
    await pause(5)
  }
}
