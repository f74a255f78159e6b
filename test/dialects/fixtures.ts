import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect, DialectResult } from '../../src/dialects/runtime/types.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/** Calls in a dialect over these files, in order, with their answers. */
export interface Fixture {
  readonly dialect: string
  /** Virtual roots, if not the default ones. */
  readonly roots?: Readonly<Record<string, string>>
  readonly shell?: 'bash'
  /** Default: `autonomous`. */
  readonly policy?: PolicyInput
  readonly files: Readonly<Record<string, string>>
  readonly calls: readonly FixtureCall[]
}

export interface FixtureCall {
  /** Files that another process changes before the call. */
  readonly before?: Readonly<Record<string, string>>
  readonly tool: string
  readonly input: unknown
  readonly code?: string
  readonly isError?: boolean
  readonly output?: unknown
}

export const directory = join(import.meta.dirname, 'fixtures')

/** Reads the fixtures of this form. */
export function fixtures(): readonly { readonly name: string; readonly fixture: Fixture }[] {
  return readdirSync(directory)
    .map((name) => ({ name, fixture: JSON.parse(readFileSync(join(directory, name), 'utf8')) as Fixture }))
    .filter(({ fixture }) => fixture.calls !== undefined)
}

/** Makes all calls again. */
export async function play({
  dialect,
  roots,
  shell,
  policy = { preset: 'autonomous' },
  files,
  calls,
}: Fixture): Promise<FixtureCall[]> {
  const open = dialects[dialect] as (roots?: Readonly<Record<string, string>>) => Dialect
  const backend = memory(files)
  const clock = () => Date.UTC(2026, 0, 1)
  const workspace = await createWorkspace({
    ...{ backend, policy, clock, dialect: open(roots), run: { id: 'run' } },
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
    played.push({ ...(before && { before }), tool, input, ...summaryOf(result) })
  }
  await workspace.close()
  return played
}

function summaryOf({ isError, output, failure }: DialectResult): Pick<FixtureCall, 'code' | 'isError' | 'output'> {
  // File times depend on the machine.
  const text = JSON.stringify(output).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
  return { ...(failure && { code: failure.code }), isError, output: JSON.parse(text) }
}
