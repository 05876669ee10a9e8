/** The path of the `offshoot` command, for hooks and processes that call it again. */
import { fileURLToPath } from 'node:url'

/** `src/cli` and `dist/cli` are equally deep, so one relative path serves both. */
export const bin = fileURLToPath(new URL('../../bin/offshoot.js', import.meta.url))
