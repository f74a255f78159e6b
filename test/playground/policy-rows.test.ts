import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PolicyInput } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { createPolicyEditor } from 'wardspace/ui'
import { openTrial, pathsOf } from '../../playground/session/policy-trial.ts'
import { editJson, type JsonNode, type JsonPath, nodeAt, parseJson } from '../../src/ui/json-text.ts'
import { isEditable, listText, rowsOf } from '../../src/ui/policy-rows.ts'
import { readList } from '../../src/ui/read-list.ts'
import { readPolicy } from '../../src/ui/read-policy.ts'

const rootOf = (text: string): JsonNode => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.root
}

const paths = fc.array(fc.constantFrom('src/**', '*.{js,ts}', 'a b', 'x, y', 'ü'), { minLength: 1, maxLength: 3 })
const decision = fc.constantFrom('allow', 'ask', 'deny')
const label = fc.constantFrom('public', 'internal', 'confidential', 'restricted')
const some = <T>(fields: Record<string, fc.Arbitrary<T>>) => fc.record(fields, { requiredKeys: [] })
const policies = some<unknown>({
  preset: fc.constantFrom('readOnly', 'supervised', 'autonomous'),
  deniedPaths: paths,
  readOnlyPaths: paths,
  allowedPaths: paths,
  tools: fc.dictionary(fc.constantFrom('editing', 'a.b', 'x[0]'), decision),
  rules: fc.array(
    some<unknown>({
      name: fc.string({ minLength: 1, maxLength: 5 }),
      action: decision,
      permissions: fc.constantFrom(['file:change'], ['file:read', 'file:list']),
      paths,
      commands: paths,
      kinds: fc.constant(['BINARY']),
      overrides: fc.constant(['secret']),
    }),
    { maxLength: 4 },
  ),
  commands: some<unknown>({ allow: paths, deny: paths }),
  limits: fc.constant({ callsPerMinute: 3 }),
  network: some<unknown>({ hosts: paths }),
  labels: some<unknown>({
    sources: fc.array(some<unknown>({ label, paths, commands: paths }), { maxLength: 2 }),
    sinks: fc.array(some<unknown>({ name: fc.string(), ceiling: label, hosts: paths, above: fc.constant('ask') }), {
      maxLength: 2,
    }),
  }),
  requireReason: fc.boolean(),
})
/** The text of a policy in one of many layouts. */
const texts = fc
  .tuple(policies, fc.constantFrom(0, 2, 4, '\t'), fc.constantFrom('', '\n', '  \n'))
  .map(([policy, indent, end]) => JSON.stringify(policy, null, indent) + end)

/** The paths to all values of a JSON value that contain no other. */
function leaves(value: unknown, path: JsonPath = []): JsonPath[] {
  if (typeof value !== 'object' || value === null) return [path]
  const parts = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return parts.flatMap(([key, child]) => leaves(child, [...path, key as string | number]))
}

const within = (path: JsonPath, part: JsonPath) => part.every((key, at) => path[at] === key)

describe('the text of a policy', () => {
  it('is accepted exactly if JSON.parse accepts it, apart from a name that is there twice', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '1',
      '-0.5e3',
      '01',
      'true',
      'nul',
      ' ',
      '\n',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces).map((all) => all.join('')),
          texts,
          fc.json(),
        ),
        (text) => {
          const parsed = parseJson(text)
          let isJson = true
          try {
            JSON.parse(text)
          } catch {
            isJson = false
          }
          const isTwice = !parsed.ok && parsed.message.includes('is there twice')
          if (!isTwice) expect(parsed.ok).toBe(isJson)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('changes by an edit in one value alone, and comes back by the opposite edit', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.constantFrom<unknown>('new', ['x', 'y'], { a: 1 }), (text, seed, value) => {
        const policy = JSON.parse(text)
        const all = leaves(policy).filter((path) => path.length > 0)
        if (all.length === 0) return
        const path = all[seed % all.length] as JsonPath
        const edited = editJson(text, path, value)
        const expected = structuredClone(policy)
        const parent = path.slice(0, -1).reduce((one, key) => one[key], expected)
        const key = path.at(-1) as string
        const before = parent[key]
        parent[key] = value
        expect(JSON.parse(edited)).toEqual(expected)
        expect(editJson(edited, path, before)).toBe(text)
        if (Array.isArray(parent)) parent.splice(Number(key), 1)
        else delete parent[key]
        expect(JSON.parse(editJson(text, path, undefined))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('gets new values at every depth', () => {
    for (const text of ['{}', '{ "rules": [] }', '{\n  "preset": "readOnly"\n}', '{\n  "rules": [\n    {}\n  ]\n}']) {
      const at = (JSON.parse(text).rules ?? []).length
      const edited = editJson(text, ['rules', at], { name: 'a', action: 'ask', paths: ['b'] })
      expect(JSON.parse(edited)).toEqual({
        ...JSON.parse(text),
        rules: [...(JSON.parse(text).rules ?? []), { name: 'a', action: 'ask', paths: ['b'] }],
      })
    }
  })
})

describe('the rows of a policy', () => {
  it('show every value, or name the field that only the text shows', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { sections, preset, textOnly } = rowsOf(text, rootOf(text))
        const rows = Object.values(sections).flat()
        const shown: JsonPath[] = [preset.path, ...textOnly.map((field) => [field])]
        for (const { path, choices, lists, textOnly: fields } of rows) {
          shown.push(...[...choices, ...lists].map((one) => one.path), [...path, 'name'])
          shown.push(...fields.map((field) => [...path, field]))
        }
        for (const leaf of leaves(JSON.parse(text)).filter((path) => path.length > 0)) {
          if (!/^(\{\}|\[\])$/.test(JSON.stringify(leaf))) {
            expect(
              shown.some((path) => within(leaf, path)),
              JSON.stringify(leaf),
            ).toBe(true)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('lose nothing of the text when each writes what it shows', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { sections, preset } = rowsOf(text, rootOf(text))
        let edited = text
        for (const choice of [
          preset,
          ...Object.values(sections)
            .flat()
            .flatMap(({ choices }) => choices),
        ]) {
          edited = editJson(edited, choice.path, choice.options.find(({ value }) => value === choice.value)?.json)
        }
        for (const { path, values } of Object.values(sections)
          .flat()
          .flatMap(({ lists }) => lists)) {
          if (isEditable(values) && nodeAt(rootOf(text), path))
            edited = editJson(edited, path, readList(listText(values)))
        }
        expect(JSON.parse(edited)).toEqual(JSON.parse(text))
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['{\n  "preset": "readOnly",\n}', 3, []],
    ['{\n  "preset": "readonly"\n}', 2, ['preset']],
    [
      '{\n  "preset": "readOnly",\n  "rules": [\n    { "name": "a", "action": "alow" }\n  ]\n}',
      4,
      ['rules', 0, 'action'],
    ],
    ['{\n  "preset": "readOnly",\n  "rules": [\n    { "name": "a" }\n  ]\n}', 4, ['rules', 0]],
    ['{\n  "network": {\n    "hosts": ["http://a"]\n  }\n}', 3, ['network', 'hosts']],
    ['{\n  "preset": "readOnly",\n\n  "deniedPath": []\n}', 4, ['deniedPath']],
    ['{\n  "preset": "readOnly",\n  "preset": "readOnly"\n}', 3, []],
  ])('find the line and the row of a mistake in %j', (text, line, path) => {
    const read = readPolicy(text)
    if (read.ok) throw new Error('The policy is not refused')
    expect([read.line, read.path.slice(0, path.length)]).toEqual([line, path])
  })
})

describe('the effect of a policy on the files', () => {
  const project = {
    backend: memory({
      'a.txt': 'a',
      '.env': 'A=1',
      'src/b.js': 'b',
      'src/c.js': 'c',
      LICENSE: 'x',
      '.git/HEAD': 'ref',
    }),
  }

  const compare = async (policy: PolicyInput, changed: PolicyInput) => {
    const editor = createPolicyEditor({
      policy,
      text: JSON.stringify(changed),
      onApply: () => {},
      openTrial: (tried) => openTrial(project, tried),
      paths: () => pathsOf(project),
    })
    await expect.poll(() => editor.snapshot.read?.ok).toBe(true)
    return editor.trial?.compare(() => false)
  }

  it('names the files that become hidden, read-only or ask', async () => {
    const effect = await compare('autonomous', {
      preset: 'autonomous',
      deniedPaths: ['src/c.js'],
      readOnlyPaths: ['LICENSE'],
      rules: [{ name: 'look', action: 'ask', permissions: ['file:change'], paths: ['src/b.js'] }],
    })
    expect(effect).toMatchObject({ compared: 5, isPart: false })
    expect(Object.fromEntries(effect?.files.map(({ path, after }) => [path, after]) ?? [])).toEqual({
      LICENSE: 'read-only',
      'src/b.js': 'asks',
      'src/c.js': 'hidden',
    })
  })

  it('is nothing for the same policy', async () => {
    expect(await compare('supervised', { preset: 'supervised' })).toMatchObject({ files: [], compared: 5 })
  })
})
