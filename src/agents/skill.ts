/** Skill files: a page of instructions with a header. */
import type { SlashCommand, SlashFile } from '../core/model/agent.ts'

/** The form that several agents share: a folder with one `SKILL.md`. */
export function skill(folder: string, { name, summary, prompt, byUser }: SlashCommand): SlashFile {
  const head = [
    `name: ${name}`,
    `description: ${summary}`,
    ...(byUser ? ['disable-model-invocation: true'] : []),
  ]
  return { folder: `${folder}/${name}`, name: 'SKILL.md', content: page(head, prompt) }
}

export function page(head: readonly string[], prompt: string): string {
  return ['---', ...head, '---', '', prompt, ''].join('\n')
}
