import { fileURLToPath } from 'node:url'

/** The command itself, for those who have to call it: two folders up, from the sources as from what is built of them. */
export const bin = fileURLToPath(new URL('../../bin/offshoot.js', import.meta.url))
