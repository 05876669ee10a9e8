/** Handlers of the actions about settings and agents. */
import type { setup as table } from '../../actions/setup.ts'
import { taskView } from '../../core/model/task-view.ts'
import type { Handlers } from './handler.ts'

export const setup: Handlers<keyof typeof table> = {
  async 'system.config'(ports, { repo }) {
    const place = await ports.locate(repo).catch(() => undefined)
    const settings = await ports.settings.readWithOrigin(place?.checkout ?? null)
    return {
      settings: settings.map(({ key, value, origin, waiting }) => ({
        key,
        value,
        origin,
        ...(waiting !== undefined && { waits: true }),
      })),
    }
  },
  async 'system.import'(ports, { repo, dryRun = false, ...input }) {
    const { importPeers } = await import('../../core/verbs/import.ts')
    const { settings, path } = await importPeers(ports, { dir: repo, dryRun, ...input })
    return { settings, path, dryRun }
  },
  async 'system.trust'(ports, { repo, ...input }, { signal, caller }) {
    const { trust } = await import('../../core/verbs/trust.ts')
    const isUnattended = caller.kind !== 'user' || caller.isUnattended
    return trust(ports, { dir: repo, isUnattended, ...input }, signal)
  },
  async 'system.agents'(ports, { repo }, { signal }) {
    const { agents } = await import('../../core/verbs/agents.ts')
    return { agents: await agents(ports, repo, signal) }
  },
  async 'task.install'(ports, { repo, ...input }, { signal }) {
    const { install } = await import('../../core/verbs/install.ts')
    const { task, files, skipped } = await install(ports, { dir: repo, ...input }, signal)
    return { task: taskView(task), files, skipped }
  },
}
