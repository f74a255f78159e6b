import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect, DialectResult } from '../../src/dialects/runtime/types.ts'
import { createWorkspace } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/** What a dialect is asked over these files, one call after the other, and what it answers. */
export interface Fixture {
  readonly dialect: string
  /** Where its paths lie, if not where they lie by default. */
  readonly roots?: Readonly<Record<string, string>>
  readonly shell?: 'bash'
  readonly files: Readonly<Record<string, string>>
  readonly calls: readonly FixtureCall[]
}

export interface FixtureCall {
  /** Files that somebody else changes before the call. */
  readonly before?: Readonly<Record<string, string>>
  readonly tool: string
  readonly input: unknown
  readonly code?: string
  readonly isError?: boolean
  readonly output?: unknown
}

export const directory = join(import.meta.dirname, 'fixtures')

/** The fixtures of this form. */
export function fixtures(): readonly { readonly name: string; readonly fixture: Fixture }[] {
  return readdirSync(directory)
    .map((name) => ({ name, fixture: JSON.parse(readFileSync(join(directory, name), 'utf8')) as Fixture }))
    .filter(({ fixture }) => fixture.calls !== undefined)
}

/** Asks it all again. */
export async function play({ dialect, roots, shell, files, calls }: Fixture): Promise<FixtureCall[]> {
  const open = dialects[dialect] as (roots?: Readonly<Record<string, string>>) => Dialect
  const backend = memory(files)
  const clock = () => Date.UTC(2026, 0, 1)
  const workspace = await createWorkspace({
    ...{ backend, policy: 'autonomous', clock, dialect: open(roots), run: { id: 'run' } },
    ...(shell === undefined ? {} : { shell: bash() }),
  })
  const other = workspace.run({ id: 'other' })
  const played: FixtureCall[] = []
  for (const { before, tool, input } of calls) {
    for (const [path, content] of Object.entries(before ?? {})) {
      const { sha256 } = await other.files.read(path)
      await other.files.write(path, content, sha256)
    }
    const result = await workspace.call(tool, input)
    played.push({ ...(before && { before }), tool, input, ...shown(result) })
  }
  await workspace.close()
  return played
}

function shown({ isError, output, failure }: DialectResult): Pick<FixtureCall, 'code' | 'isError' | 'output'> {
  // Times of files are those of the machine.
  const told = JSON.stringify(output).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
  return { ...(failure && { code: failure.code }), isError, output: JSON.parse(told) }
}
