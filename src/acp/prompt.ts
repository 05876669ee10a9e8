/** Turns the blocks of a prompt into the text that an agent gets. Pure. */
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'
import { AppError } from '../core/model/errors.ts'

/** `checkout` is the folder that the editor has open. Its files are in the workspace under the same relative paths. */
export function promptText(blocks: readonly ContentBlock[], checkout: string): string {
  return blocks.map((block) => blockText(block, checkout)).join('')
}

function blockText(block: ContentBlock, checkout: string): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return `@${placeOf(block.uri, checkout)}`
    case 'resource': {
      const { uri } = block.resource
      const text = 'text' in block.resource ? block.resource.text : undefined
      const place = placeOf(uri, checkout)
      return text === undefined ? `@${place}` : `\n\n${place}:\n\`\`\`\n${text}\n\`\`\`\n\n`
    }
    default:
      throw new AppError('wrongUsage', `A prompt with a part of the kind ${block.type} is not understood.`, {
        hint: 'Send text, or links to files.',
      })
  }
}

/** A file of the checkout by its relative path, so that the agent reads and writes the one in its workspace. */
function placeOf(uri: string, checkout: string): string {
  const file = fileOf(uri)
  if (file === undefined) return uri
  const inside = path.relative(checkout, file)
  return inside === '..' || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside)
    ? file
    : inside || '.'
}

function fileOf(uri: string): string | undefined {
  if (path.isAbsolute(uri)) return uri
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined
  } catch {
    return undefined
  }
}
