import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const top = join(import.meta.dirname, '../..')

/** A code block of a page. */
export interface Block {
  /** `docs/guide/node.md:12`: where its first line stands. */
  readonly name: string
  /** The word after the fence: `ts`, `sh`, `json`, … */
  readonly language: string
  /** With everything that it goes on from. */
  readonly code: string
  /** Why it is not run, as the comment `<!-- not run: … -->` above it says. It is checked in every other way. */
  readonly notRun?: string
}

/** Every page that a reader is given: its path from the root of the project, and its text. */
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

/** A fence with the comments right above it, and what is inside. */
const fenced = /((?:^<!--.*-->\n+)*)^```(\w*).*\n([\s\S]*?)^```$/gm

/** The blocks of a page. One under `<!-- goes on -->` has the code of the one before it in front of its own. */
export function blocksOf(path: string, text: string): readonly Block[] {
  const blocks: Block[] = []
  for (const { index, 1: comments = '', 2: language = '', 3: own = '' } of text.matchAll(fenced)) {
    const line = text.slice(0, index + comments.length).split('\n').length + 1
    const before = comments.includes('<!-- goes on -->') ? blocks.at(-1) : undefined
    const notRun = /<!-- not run: (.+?) -->/.exec(comments)?.[1] ?? before?.notRun
    blocks.push({
      name: `${path}:${line}`,
      language,
      code: before === undefined ? own : `${before.code}${own}`,
      ...(notRun === undefined ? {} : { notRun }),
    })
  }
  return blocks
}
