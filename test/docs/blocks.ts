import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const top = join(import.meta.dirname, '../..')

/** A code block of a page. */
export interface Block {
  /** Page and first line, such as `docs/guide/node.md:12`. */
  readonly name: string
  /** The language after the fence: `ts`, `sh`, `json`, … */
  readonly language: string
  /** The code, including the blocks that it continues. */
  readonly code: string
  /** Why the block is not run, from the comment `<!-- not run: … -->` above it. All other checks apply. */
  readonly notRun?: string
  /** The file that contains the block, from the comment `<!-- part of FILE -->` above it. Tests of that file run it. */
  readonly partOf?: string
  /** The framework whose lines these are, from the comment `<!-- framework: NAME -->` above it. `test/frameworks/` runs them. */
  readonly framework?: string
}

/** Returns the text of every page of the documentation, by its path from the root of the project. */
export function readPages(): ReadonlyMap<string, string> {
  const docs = readdirSync(join(top, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1))
    .filter((path) => !path.startsWith('docs/site/'))
  const paths = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'examples/edge-worker/README.md',
    ...docs.sort(),
  ]
  return new Map(paths.map((path) => [path, readFileSync(join(top, path), 'utf8')]))
}

/** A fenced block with the comments directly above it. */
const fenced = /((?:^<!--.*-->\n+)*)^```(\w*).*\n([\s\S]*?)^```$/gm

/** Returns the blocks of a page. A block under `<!-- goes on -->` starts with the code of the block before it. */
export function blocksOf(path: string, text: string): readonly Block[] {
  const blocks: Block[] = []
  for (const { index, 1: comments = '', 2: language = '', 3: code = '' } of text.matchAll(fenced)) {
    const line = text.slice(0, index + comments.length).split('\n').length + 1
    const before = comments.includes('<!-- goes on -->') ? blocks.at(-1) : undefined
    const notRun = /<!-- not run: (.+?) -->/.exec(comments)?.[1] ?? before?.notRun
    const partOf = /<!-- part of (\S+) -->/.exec(comments)?.[1]
    const framework = /<!-- framework: (\S+) -->/.exec(comments)?.[1]
    blocks.push({
      name: `${path}:${line}`,
      language,
      code: before === undefined ? code : `${before.code}${code}`,
      ...(notRun === undefined ? {} : { notRun }),
      ...(partOf === undefined ? {} : { partOf }),
      ...(framework === undefined ? {} : { framework }),
    })
  }
  return blocks
}
