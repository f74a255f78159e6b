import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { inClientWords } from '../../src/adapters/mcp/client-words.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { inCommandLineWords } from '../../src/cli/refusals.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { toDialectError } from '../../src/dialects/runtime/translate-error.ts'
import type { DialectTool } from '../../src/dialects/runtime/types.ts'
import { type ErrorCode, errorHints, type Failure } from '../../src/errors.ts'
import { createWorkspace } from '../../src/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { fieldNamesOf } from '../../src/util/strict-schema.ts'
import { everyNth } from '../counts.ts'

describe('the hint for a target that is a directory', () => {
  it.each([
    [{ '/workspace': '' }, '/workspace/a.txt', '/workspace/docs', '/workspace/docs/a.txt'],
    [{ '/srv/app': 'app', '/srv/docs': 'docs' }, '/srv/app/b.txt', '/srv/docs', '/srv/docs/b.txt'],
    [{ '/workspace': '' }, 'a.txt', 'docs', '/workspace/docs/a.txt'],
  ])('names the path below it as the dialect writes it: %j %s', async (roots, source, destination, path) => {
    const files = { 'a.txt': 'a\n', 'app/b.txt': 'b\n', 'docs/x.md': 'x\n' }
    const workspace = await createWorkspace({
      backend: memory(files),
      policy: 'autonomous',
      dialect: mcpFilesystem(roots as Record<string, string>),
    })
    const { output } = await workspace.call('move_file', { source, destination })
    expect(output).toContain(`use the whole path "${path}"`)
  })
})

describe('the virtual roots of a dialect', () => {
  it.each(Object.entries(dialects))('are checked by %s, in a message without internal names', (_, open) => {
    const wrong = [5, 'x', null, ['/workspace'], { '/workspace': 5 }, { workspace: '' }, { '/x': '../y' }]
    for (const roots of wrong) {
      expect(() => open(roots as never)).toThrow(TypeError)
      expect(() => open(roots as never)).toThrow(/^The virtual root(?!.*\()/)
    }
  })
})

/** The hints that the source has as texts. */
function writtenHints(): string[] {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const written = /\bhint:\s+(?:'([^'\n]+)'|"([^"\n]+)"|`([^`\n]+)`)/g
  const hints = sources.flatMap((name) => [...readFileSync(`src/${name}`, 'utf8').matchAll(written)])
  const texts = hints.map(([, single, double, template]) => single ?? double ?? template?.replace(/\$\{[^}]*\}+/g, 'X'))
  // A template within a template ends too early.
  return [...new Set(texts.filter((text) => text !== undefined && !text.includes('=>')))] as string[]
}

/** The words of a hint that are names: in snake_case or camelCase, functions, options in backquotes, and flags except those of git. */
function namesOfHint(hint: string): readonly string[] {
  const plain = hint.replace(/"[^"]*"/g, '').replace(/git(?: [\w-]+)+/g, '')
  return plain.match(/--[a-z][a-z-]*|`[^`]+`|\w+\(|\b[a-z]+(?:_[a-z]+)+\b|\b[a-z]+[A-Z]\w*/g) ?? []
}

/** The names that a caller of a tool has: the tool, its fields at any depth, and the fields of the workspace's tools that it accepts too. */
function namesOf({ name, input, uses }: DialectTool): string[] {
  const schema = JSON.stringify(z.toJSONSchema(input as unknown as z.ZodType, { io: 'input', unrepresentable: 'any' }))
  const native = builtinTools
    .filter((tool) => uses.includes(tool.name))
    .flatMap((tool) => Object.keys(tool.input.shape))
  const accepted = native.map((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  return [name, ...accepted, ...[...schema.matchAll(/"(\w+)":/g)].map(([, field = '']) => field)]
}

describe('the hint of every code', () => {
  const written = writtenHints()
  // In `npm test`, each hint of the source has a fifth of the codes.
  const refusals = (Object.keys(errorHints) as ErrorCode[]).flatMap((code, at) =>
    [errorHints[code], ...everyNth(written, 5, at)].map(
      (hint): Failure => ({ ok: false, code, message: 'Refused', hint }),
    ),
  )

  it.each(Object.entries(dialects))('names only tools and fields of %s', (_, open) => {
    const dialect = open()
    const names = new Set(dialect.tools.flatMap(namesOf))
    const others: string[] = []
    for (const failure of refusals) {
      const shown = toDialectError(dialect, dialect.tools[0]?.name ?? '', failure, { workspaceTool: 'read_file' }).hint
      const words = namesOfHint(shown)
      others.push(...words.filter((word) => !names.has(word)).map((word) => `${failure.code}: ${word} in ${shown}`))
    }
    expect(written.length).toBeGreaterThan(50)
    expect([...new Set(others)]).toEqual([])
  })

  const ofTools = new Set([
    ...builtinTools.flatMap(({ name, input }) => [name, ...fieldNamesOf(input)]),
    // A field of results, and one of a policy.
    ...['artifactUri', 'callId', 'deniedPaths', 'allowedPaths', 'is_regex', 'content_search'],
  ])

  it('names no option of the command line in code', () => {
    expect(refusals.filter(({ hint }) => namesOfHint(hint).some((name) => name.startsWith('--')))).toEqual([])
  })

  it('names only tools and fields for a client of MCP', async () => {
    const others = refusals.flatMap((failure) => {
      const { hint } = inClientWords(failure)
      expect(hint).toMatch(/\S[.?!)]$/)
      return namesOfHint(hint).filter((name) => !ofTools.has(name))
    })
    expect([...new Set(others)]).toEqual([])
  })

  it('names only tools and fields on the command line, whose options are in an advice of their own', () => {
    const others = refusals.flatMap((failure) => {
      const { hint } = inCommandLineWords(failure) as Failure
      expect(hint).not.toBe('')
      return namesOfHint(hint).filter((name) => !ofTools.has(name))
    })
    expect([...new Set(others)]).toEqual([])
  })
})
