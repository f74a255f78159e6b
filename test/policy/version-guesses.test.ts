import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { noteText } from '../../src/files/text/front-matter.ts'
import { createWorkspace, type PolicyInput, ToolError, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { PermissionPattern } from '../../src/policy/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { everyNth, isLong } from '../counts.ts'

const PIN = 'pin 4710\n'
const ENV = 'PHRASE=plxm-harbour-91-kettle\n'
const NOTE = noteText('n', { title: undefined, labels: [], scopes: [], content: PIN })

const tree = {
  'wo/x.txt': PIN,
  'wo/large.txt': PIN.repeat(300),
  'wo/d/y.txt': PIN,
  'a.txt': PIN,
  'memory/n.md': NOTE,
  '.env': ENV,
  'to-x': { link: 'wo/x.txt' },
  'to-wo': { link: 'wo' },
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const wrong = sha256('pin 0000\n')

/** Files whose reading is denied and whose changing is allowed, with their versions. */
const targets: Readonly<Record<string, string>> = {
  'wo/x.txt': sha256(PIN),
  'wo/large.txt': sha256(tree['wo/large.txt']),
  'to-wo/x.txt': sha256(PIN),
  'to-x': sha256(PIN),
  'wo/d': sha256(PIN),
  '.env': sha256(ENV),
}

const policyOf = (
  preset: 'supervised' | 'autonomous',
  more: readonly PermissionPattern[] = [],
  action: 'deny' | 'ask' = 'deny',
): PolicyInput => ({
  preset,
  memory: {},
  rules: [
    {
      name: 'no reading',
      action,
      permissions: ['file:read', 'memory:read', ...more],
      paths: ['wo/**', 'memory/**'],
    },
    {
      name: 'tidy up',
      action: 'allow',
      permissions: ['file:change'],
      paths: preset === 'autonomous' ? ['**'] : ['.env'],
      overrides: ['secret'],
    },
  ],
})

const settings = [
  ['supervised', 'file:read'],
  ['supervised', 'file:info'],
  ['autonomous', 'file:read'],
  ['autonomous', 'file:info'],
] as const

/** Inputs of every tool that takes an expected version: on a path, with a version. */
const inputs: Readonly<Record<string, (path: string, version: string) => readonly Record<string, unknown>[]>> = {
  write_file: (path, expectedSha256) =>
    ['CREATE_NEW', 'REPLACE_EXISTING', 'CREATE_OR_REPLACE'].map((mode) => ({
      path,
      content: 'x',
      mode,
      expectedSha256,
    })),
  edit_file: (path, expectedSha256) =>
    [true, false].map((dryRun) => ({ path, oldText: 'pin', newText: 'x', expectedSha256, dryRun })),
  replace_range: (path, expectedSha256) => [{ path, startLine: 1, endLine: 1, newText: 'x\n', expectedSha256 }],
  append_file: (path, expectedSha256) => [{ path, content: 'x', expectedSha256 }],
  delete_file: (path, expectedSha256) => [{ path, expectedSha256 }],
  move_file: (path, expectedSha256) => [{ path, to: 'new.txt', expectedSha256 }],
  copy_file: (path, expectedSha256) => [{ path, to: 'new.txt', expectedSha256 }],
  apply_patch: (path, version) =>
    [
      `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n`,
      `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`,
      `*** Begin Patch\n*** Update File: ${path}\n@@\n-pin 4710\n+x\n*** End Patch\n`,
      `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`,
      `diff --git a/a.txt b/${path}\nsimilarity index 100%\nrename from a.txt\nrename to ${path}\n`,
    ].flatMap((patch) => [true, false].map((dryRun) => ({ patch, dryRun, expectedSha256s: { [path]: version } }))),
  memory_store: (_, expectedSha256) => [{ id: 'n', content: 'x', expectedSha256 }],
}

/** A workspace in which every question is answered with no, and the questions. */
async function open(policy: PolicyInput, more: object = {}): Promise<{ workspace: Workspace; asked: string[] }> {
  const asked: string[] = []
  const approve: NonNullable<WorkspaceOptions['approve']> = ({ tool }) => {
    asked.push(tool)
    return { deny: 'No' }
  }
  const options = { backend: memory(tree), policy, approve, clock: () => 1000, limits: { textFileBytes: 1000 } }
  const workspace = await createWorkspace({ ...options, ...more })
  return { workspace: workspace as unknown as Workspace, asked }
}

const withoutIds = (answer: unknown) => JSON.parse(JSON.stringify({ ...(answer as object), callId: '' }))

/** What a call tells its caller, with a new workspace for each call. */
async function told(policy: PolicyInput, act: (workspace: Workspace) => Promise<unknown>, more?: object) {
  const { workspace, asked } = await open(policy, more)
  const answer = await act(workspace).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error
    return { thrown: error.code, message: error.message, ...error.details }
  })
  return { answer: withoutIds(answer), asked }
}

it('there are inputs for every tool that takes an expected version', () => {
  const takes = builtinTools.filter(({ input }) =>
    Object.keys(input.shape).some((field) => /^expectedSha256s?$/.test(field)),
  )
  // `create_directory` takes only null.
  const names: string[] = takes.map(({ name }) => name).filter((name) => name !== 'create_directory')
  expect(Object.keys(inputs).sort()).toEqual(names.sort())
})

describe.each(settings)('%s, without file:read and %s', (preset, denied) => {
  const policy = policyOf(preset, [denied])

  it.each(
    everyNth(
      Object.keys(inputs),
      6,
      settings.findIndex(([, one]) => one === denied),
    ),
  )('%s tells a right guess of a version not from a wrong one', async (tool) => {
    const all = tool === 'memory_store' ? { 'memory/n.md': sha256(NOTE) } : targets
    for (const [path, right] of Object.entries(all)) {
      const [rights, wrongs] = [inputs[tool]?.(path, right) ?? [], inputs[tool]?.(path, wrong) ?? []]
      for (const [index, input] of rights.entries()) {
        const calls = [input, wrongs[index]].map((one) => [
          told(policy, (workspace) => workspace.callTool(tool, one)),
          told(policy, (workspace) => workspace.explainTool(tool, one)),
        ])
        const [ofRight, ofWrong] = await Promise.all(calls.map((one) => Promise.all(one)))
        expect(ofRight, `${path} ${JSON.stringify(input)}`).toEqual(ofWrong)
        expect(ofRight?.[0]?.answer, `${path} ${JSON.stringify(input)}`).toMatchObject({ ok: false })
      }
    }
  })

  it.each(['files.delete', 'files.remove', 'files.write', 'files.append', 'a batch'])(
    'neither does %s',
    async (way) => {
      const act =
        (path: string, expectedSha256: string) =>
        async ({ files }: Workspace) => {
          if (way === 'files.delete') return files.delete(path, { expectedSha256 })
          if (way === 'files.remove') return files.remove(path, expectedSha256)
          if (way === 'files.write') return files.write(path, 'x', { expectedSha256 })
          if (way === 'files.append') return files.append(path, 'x', { expectedSha256 })
          return files.batch((batch) => batch.delete(path, { expectedSha256 }))
        }
      for (const [path, right] of Object.entries(targets)) {
        const ofRight = await told(policy, act(path, right))
        expect(ofRight, path).toEqual(await told(policy, act(path, wrong)))
        expect(ofRight.answer.thrown, path).toBeDefined()
      }
    },
  )

  it.each(
    everyNth(
      Object.entries(dialects).flatMap(([name, create]) =>
        create()
          .tools.filter(({ uses }) => uses.includes('delete_file'))
          .map((tool) => [name, tool.name, create] as const),
      ),
      4,
      settings.findIndex(([, one]) => one === denied),
    ),
  )('neither does %s %s', async (_, tool, create) => {
    for (const [path, right] of Object.entries(targets)) {
      const act = (version: string) => async (workspace: Workspace) => {
        const answers: unknown[] = []
        for (const field of ['expectedSha256', 'expected_sha256', 'expected_hash']) {
          for (const name of ['path', 'file_path']) {
            for (const at of [path, `/workspace/${path}`]) {
              answers.push(withoutIds(await workspace.callTool(tool, { [name]: at, [field]: version })))
            }
          }
        }
        return answers
      }
      const more = { dialect: create() }
      const ofRight = await told(policy, act(right), more)
      expect(ofRight, path).toEqual(await told(policy, act(wrong), more))
      expect(JSON.stringify(ofRight.answer), path).toMatch(/denie[ds]/)
    }
  })
})

it('a refusal of a guess is one of policy, and a deletion without an expected version goes on', async () => {
  const policy = policyOf('autonomous')
  for (const [path, code] of [
    ['wo/x.txt', 'POLICY_DENIED'],
    ['.env', 'POLICY_DENIED_SECRET'],
  ] as const) {
    const { workspace } = await open(policy)
    for (const expectedSha256 of [targets[path], wrong, wrong.slice(0, 8)]) {
      expect(await workspace.callTool('delete_file', { path, expectedSha256 })).toMatchObject({ code })
    }
    expect(await workspace.callTool('delete_file', { path })).toMatchObject({ ok: true, oldSha256: null })
  }
  const { workspace } = await open(policy)
  expect(await workspace.callTool('delete_file', { path: 'a.txt', expectedSha256: wrong })).toMatchObject({
    code: 'WRITE_CONFLICT',
  })
  expect(await workspace.callTool('delete_file', { path: 'a.txt', expectedSha256: sha256(PIN) })).toMatchObject({
    ok: true,
  })
})

it('a deletion of a file that must not be read shows no version, under any name, and neither does the report of the run', async () => {
  for (const path of ['wo/x.txt', 'to-wo/x.txt', '.env']) {
    const { workspace } = await open(policyOf('autonomous'))
    expect(await workspace.callTool('delete_file', { path })).toMatchObject({ ok: true, oldSha256: null })
    const report = await workspace.consult('report')
    expect(report).toMatchObject({ ok: true, text: expect.stringContaining('"from": "hidden"') })
    const version = targets[path]?.slice(0, 12) ?? ''
    expect(JSON.stringify(report)).not.toContain(version)
  }
})

it('a tag is compared only where metadata may be seen', async () => {
  const { workspace } = await open('autonomous')
  const tag = (await workspace.files.stat('wo/x.txt'))?.tag ?? ''
  const answers = [tag, 'other'].map((expectedTag) =>
    told(policyOf('autonomous', ['file:info']), ({ files }) => files.write('wo/x.txt', 'x', { expectedTag })),
  )
  const [right, other] = await Promise.all(answers)
  expect(right).toEqual(other)
  expect(right?.answer.thrown).toBe('POLICY_DENIED')
})

/** Calls that guess the content of a file, rightly and wrongly. */
const guesses: Readonly<Record<string, (path: string, guess: string) => Record<string, unknown>>> = {
  read_file: (path, guess) => ({ path, startLine: guess === '4710' ? 1 : 2 }),
  edit_file: (path, guess) => ({ path, oldText: `pin ${guess}\n`, newText: 'x' }),
  apply_patch: (path, guess) => ({ patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-pin ${guess}\n+x\n` }),
}

describe.each(settings)('%s, where reading and %s need an approval', (preset, asked) => {
  const policy = policyOf(preset, [asked], 'ask')
  const withoutIds = (answer: Record<string, unknown>) => ({ ...answer, approvalId: '' })

  it.each(isLong ? ['refuses', 'is absent'] : [preset.length % 2 === 0 ? 'refuses' : 'is absent'])(
    'an answer is the same for right and wrong guesses if the approver %s',
    async (how) => {
      const more = how === 'refuses' ? {} : { approve: undefined }
      for (const [tool, make] of [...Object.entries(inputs), ...Object.entries(guesses)]) {
        const all = tool === 'memory_store' ? { 'memory/n.md': sha256(NOTE) } : targets
        for (const [path, right] of Object.entries(all)) {
          if (path === '.env' || path === 'wo/d') continue
          const isVersion = make === inputs[tool]
          const [rights, wrongs] = [isVersion ? right : '4710', isVersion ? wrong : '0000'].map((guess) =>
            [make(path, guess)].flat(),
          )
          for (const [index, input] of (rights ?? []).entries()) {
            const [ofRight, ofWrong] = await Promise.all(
              [input, wrongs?.[index]].map((one) => told(policy, (workspace) => workspace.callTool(tool, one), more)),
            )
            const label = `${tool} ${path} ${JSON.stringify(input)}`
            expect(withoutIds(ofRight?.answer), label).toEqual(withoutIds(ofWrong?.answer))
            expect(ofRight?.asked, label).toEqual(ofWrong?.asked)
            expect(JSON.stringify(ofRight?.answer), label).not.toMatch(/pin 4710|"WRITE_CONFLICT"|NO_MATCH/)
          }
        }
      }
    },
  )

  it.each(['write', 'delete'] as const)('so is that of a batch that compares a version to %s', async (way) => {
    const act = (expectedSha256: string) => (workspace: Workspace) =>
      workspace.files.batch(async (batch) => {
        if (way === 'write') await batch.write('wo/x.txt', 'x', { expectedSha256 })
        else await batch.delete('wo/x.txt', { expectedSha256 })
      })
    const versions = [targets['wo/x.txt'] as string, wrong]
    const [right, other] = await Promise.all(versions.map((version) => told(policy, act(version))))
    expect(withoutIds(right?.answer)).toEqual(withoutIds(other?.answer))
    expect(right?.answer.thrown).toBe('APPROVAL_DENIED')
    expect(right?.asked).toEqual(other?.asked)
  })
})

it('nobody is asked about a change that policy denies because the file may not be read', async () => {
  const { workspace, asked } = await open(policyOf('supervised'))
  expect(await workspace.callTool('write_file', { path: 'wo/x.txt', content: 'x' })).toMatchObject({
    code: 'POLICY_DENIED',
  })
  expect(asked).toEqual([])
})
