/** The description of the HTTP door is valid, and has every action. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { type ActionName, actions } from '../../src/actions/index.ts'
import { openApi } from '../../src/protocol/openapi.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly unknown[]
  readonly requestBody: { content: { 'application/json': { schema: { additionalProperties?: boolean } } } }
  readonly responses: Record<string, { content?: { 'application/json': { schema: object } } }>
}
const document = openApi('1.2.3') as { readonly paths: Record<string, { readonly post: Operation }> }
const names = Object.keys(actions) as ActionName[]

test('D5: the description is valid OpenAPI 3.1', async () => {
  const validator = new Validator()
  expect(await validator.validate(structuredClone(document))).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

test('D5: the validator finds a document that is not', async () => {
  const broken = { ...structuredClone(document), paths: { '/x': { post: { responses: [] } } } }
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false })
})

test('D5: it has every action and nothing else', () => {
  expect(Object.keys(document.paths)).toEqual(names.map((name) => `/api/${name}`))
})

describe('D5: each action has a summary, its scope, a request and its answers', () => {
  test.each(names)('%s', (name) => {
    const { post } = document.paths[`/api/${name}`]!
    const { summary, scope, writes } = actions[name]
    expect(post).toMatchObject({ operationId: name, summary, description: expect.stringContaining(scope) })
    expect(post.requestBody.content['application/json'].schema).toMatchObject({ additionalProperties: false })
    expect(Object.keys(post.responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '422',
      '429',
      '500',
    ])
    expect(post.responses['200']?.content?.['application/json'].schema).toMatchObject({ type: 'object' })
    expect(post.parameters !== undefined).toBe(writes === true)
  })
})
