/** Settings that keep git's memory flat: it streams files from 16 MB on, and maps packs through a small window. */
export const frugal = [
  ['core.bigFileThreshold', '16m'],
  ['core.packedGitWindowSize', '4m'],
  ['core.packedGitLimit', '16m'],
] as const
