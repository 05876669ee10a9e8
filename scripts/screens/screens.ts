/** The screens of docs/watch.md, made anew. */
import { playScreens, type Screens } from './session.ts'

/** `document` with each of its screens, a block of code below a comment with its name, replaced by the one of now. */
export async function withScreens(document: string): Promise<string> {
  let made = document
  for (const [name, text] of Object.entries(await playScreens()) as [keyof Screens, string][]) {
    const block = new RegExp(`(<!-- screen: ${name} -->\n\`\`\`\n)[^]*?(\n\`\`\`\n)`)
    if (!block.test(made)) throw new Error(`There is no screen ${name}.`)
    made = made.replace(block, (_, begin: string, end: string) => `${begin}${text}${end}`)
  }
  return made
}
