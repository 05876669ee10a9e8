import { defineConfig } from 'rolldown'

/** Few files instead of many: a command spends most of its time on finding and reading its modules. */
export default defineConfig({
  input: { index: 'src/index.ts', 'cli/main': 'src/cli/main.ts' },
  platform: 'node',
  external: ['zod', 'yaml'],
  output: { dir: 'dist', format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' },
})
