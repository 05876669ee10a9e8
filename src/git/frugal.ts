/** Files from 16 MB on are streamed, and packs are looked at through a small window: memory stays flat, however big. */
export const frugal = [
  ['core.bigFileThreshold', '16m'],
  ['core.packedGitWindowSize', '4m'],
  ['core.packedGitLimit', '16m'],
] as const
