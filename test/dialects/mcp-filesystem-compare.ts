import { expect } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { type Call, type Case, tree } from './mcp-filesystem-cases.ts'
import { changedFiles, type Exchange, type Recorded } from './reference-server.ts'

/** A server of the dialect over a fresh tree. */
export interface Session {
  call(tool: string, input: object): Promise<Exchange['result']>
  /** Returns the current files. */
  files(): Promise<Record<string, string>>
  close(): Promise<void>
}

/** Opens a workspace in memory. */
export async function inMemory(): Promise<Session> {
  const files = memory(tree)
  const workspace = await createWorkspace({ backend: files, policy: 'autonomous', dialect: mcpFilesystem() })
  return {
    async call(tool, input) {
      const { isError, content, structuredContent } = await workspace.call(tool, input)
      return { isError, content, ...(structuredContent === undefined ? {} : { structuredContent }) }
    },
    files: () => textsOf(files),
    close: () => workspace.close(),
  }
}

/** Makes the calls of a case in the dialect, and compares answers and files with the recorded ones. */
export async function compareCase(
  { name, calls }: Case,
  recorded: Recorded,
  open: () => Promise<Session> = inMemory,
): Promise<void> {
  const theirs = recorded.cases.find((one) => one.name === name)
  const session = await open()
  try {
    for (const [index, call] of calls.entries()) {
      const exchange = theirs?.exchanges[index]
      expect([exchange?.tool, exchange?.input]).toEqual([call.tool, JSON.parse(JSON.stringify(call.input))])
      const ours = await session.call(call.tool, call.input)
      compareCall(call, (exchange as Exchange).result, shortened(ours), `${name} ${index + 1}`)
    }
    if (calls.every(({ differs }) => differs === undefined)) {
      expect(changedFiles(await session.files()), name).toEqual(theirs?.files)
    }
  } finally {
    await session.close()
  }
}

function compareCall(call: Call, theirs: Exchange['result'], ours: Exchange['result'], label: string): void {
  if (call.differs !== undefined) {
    expect(ours.isError, label).toBe(call.differs.refuses)
    expect(textOf(ours), label).toContain(call.differs.says)
    expect(textOf(ours), label).not.toBe(textOf(theirs))
    return
  }
  expect({ what: label, isError: ours.isError, text: textOf(ours) }).toMatchObject({
    what: label,
    isError: theirs.isError,
  })
  // The wording of errors differs.
  if (theirs.isError) return
  expect(comparable(ours, call), label).toEqual(comparable(theirs, call))
}

function comparable({ content, structuredContent }: Exchange['result'], { compare }: Call): unknown {
  const as = (text: string): unknown => {
    if (compare === 'lines') return text.split('\n').sort()
    if (compare === 'tree') return sorted(JSON.parse(text))
    // The same changes and header, with three lines of context instead of four.
    return compare === 'hunks' ? text.split('\n').filter((line) => !/^(@@| )/.test(line)) : text
  }
  return JSON.parse(JSON.stringify({ content, structuredContent }), (key, part) =>
    (key === 'text' || key === 'content') && typeof part === 'string' ? as(part) : part,
  )
}

interface Node {
  readonly name: string
  readonly children?: readonly Node[]
}

function sorted(nodes: readonly Node[]): readonly Node[] {
  return nodes
    .map((node) => (node.children === undefined ? node : { ...node, children: sorted(node.children) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function textOf({ content }: Exchange['result']): string {
  const [block] = content as readonly { readonly text?: string }[]
  return block?.text ?? JSON.stringify(block)
}

async function textsOf(backend: ReturnType<typeof memory>): Promise<Record<string, string>> {
  const workspace = await createWorkspace({
    backend,
    policy: { preset: 'autonomous', rules: [{ name: 'all', action: 'allow', paths: ['**'], overrides: ['secret'] }] },
  })
  const listing = await workspace.call('find_files', { pattern: '**', includeHidden: true, includeIgnored: true })
  if (!listing.ok) throw new Error(listing.message)
  const paths = listing.files as readonly string[]
  const decoder = new TextDecoder()
  const read = async (path: string) =>
    decoder.decode((await backend.read(await backend.canonical(path as never))).bytes)
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)])))
}

/** Shortens long texts to their length, start and end. */
export function shortened<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_key, part) =>
    typeof part === 'string' && part.length > 4000
      ? `${part.slice(0, 100)}<${part.length} units>${part.slice(-100)}`
      : part,
  )
}
