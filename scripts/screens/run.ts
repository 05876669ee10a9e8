/** `npm run docs:screens`: plays `offshoot watch` with the built offshoot, and puts its screens into docs/watch.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { withScreens } from './screens.ts'

const file = path.resolve(import.meta.dirname, '../../docs/watch.md')

writeFileSync(file, await withScreens(readFileSync(file, 'utf8')))
