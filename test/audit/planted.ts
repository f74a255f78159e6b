import fc from 'fast-check'
import { z } from 'zod'
import type { MemoryEntry } from '../../src/backends/memory/index.ts'
import { builtinTools } from '../../src/tools/index.ts'

/** Content of files that are secret by name, in no recognisable format. None of it may ever be shown. */
export const byName = {
  env: 'plum-harbour-91-kettle',
  nested: 'quartz-ladder-17-meadow',
  key: 'willow-anchor-44-copper',
  git: 'saffron-bridge-62-ember',
  secrets: 'maple-lantern-83-river',
  later: 'velvet-compass-29-dune',
} as const

/** Secrets that are recognized by format, in readable files. Built at run time, so that no scanner reports them. */
export const byContent = {
  github: `ghp_${'a1B2'.repeat(9)}`,
  aws: `AKIA${'Q7ZX'.repeat(4)}`,
  later: `ghp_${'Zz98'.repeat(9)}`,
  key: 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
} as const

const config = (token: string) =>
  `export const name = 'app'\nexport const token = '${token}'\nexport const id = '${byContent.aws}'\nexport const end = 1\n`

export const tree: Readonly<Record<string, MemoryEntry>> = {
  '.env': `PHRASE=${byName.env}\nOTHER=1\n`,
  'conf/.env.production': `PHRASE=${byName.nested}\n`,
  '.ssh/id_rsa': `${byName.key}\n`,
  '.git/config': `[remote]\n\turl = https://u:${byName.git}@example.com\n`,
  'secrets.yaml': `phrase: ${byName.secrets}\n`,
  'src/config.ts': config(byContent.github),
  'src/app.ts': "import { name } from './config'\nexport const answer = 41\n",
  'src/cert.txt': `first\n-----BEGIN PRIVATE KEY-----\n${byContent.key}\n-----END PRIVATE KEY-----\nlast\n`,
  'docs/guide.md': '# Guide\n\nSee the configuration.\n',
  'to-env': { link: '.env' },
  'to-ssh': { link: '.ssh' },
  'docs/to-config': { link: '../src/config.ts' },
  'memory/note.md': `---\ntitle: Tokens\n---\n\nexport const token = '${byContent.github}'\n`,
  'blob.bin': new Uint8Array([0, 1, 2, 255]),
}

/** Files that another process changes during the calls. */
export const changedLater: Readonly<Record<string, string>> = {
  '.env': `PHRASE=${byName.later}\n`,
  'src/config.ts': config(byContent.later),
}

const paths = Object.keys(tree)
const places = [...paths, '.', 'src', 'conf', '.ssh', '.git', 'docs', 'to-ssh/id_rsa', './src/../.env', 'src/conifg.ts']
const fresh = ['new.txt', 'src/new.ts', 'new/deep/er.txt', 'site/page.html', '.env.local', 'b.env']
const globs = ['**', '**/*', '**/.env*', '*', 'src/*.ts', '**/*.{ts,txt,yaml}', '.*/**']
const queries = ['PHRASE', 'token', '.', 'export', '-', 'plum', 'ghp_', 'BEGIN', '[a-z]+-[a-z]+', '^.*$', 'AKIA']
const texts = [
  "export const token = 'wrong'\n",
  'export const answer = 41\n',
  'PHRASE=\n',
  'OTHER=1\n',
  "export const name = 'app'",
  '-----END PRIVATE KEY-----',
  '',
  'x',
]
const commands = [
  'cat F',
  'cat F | rev | rev',
  'grep -rn . F',
  'head -c 40 < F',
  'cp F out.txt && cat out.txt',
  'mv F moved.txt; cat moved.txt',
  'diff F src/app.ts',
  'sed -n p F',
  "awk '{ print }' F",
  'while read -r x; do echo "$x"; done < F',
  'rg --no-ignore -uuu . .',
  'find . -type f | xargs cat',
  'env; set; ls -laR .',
  'cat F >&2; false',
]

function patchOf(path: string, context: string): string {
  return `--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,2 @@\n-${context}\n+x\n ${context}\n`
}

const anyPath = fc.constantFrom(...places, ...fresh)
const line = fc.constantFrom(...texts.map((text) => text.split('\n')[0] ?? ''))
const command = fc.tuple(fc.constantFrom(...commands), anyPath).map(([text, path]) => text.replaceAll('F', path))
const patch = fc.oneof(
  fc.tuple(anyPath, line).map(([path, context]) => patchOf(path, context)),
  fc
    .tuple(anyPath, line)
    .map(([path, context]) => `*** Begin Patch\n*** Update File: ${path}\n-${context}\n+x\n*** End Patch\n`),
  anyPath.map((path) => `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n`),
  fc
    .tuple(anyPath, anyPath)
    .map(([a, b]) => `diff --git a/${a} b/${b}\nsimilarity index 100%\nrename from ${a}\nrename to ${b}\n`),
)

/** Texts for a field, chosen by its name. A field with an unknown name gets texts of every kind. */
function textsFor(field: string): fc.Arbitrary<string> {
  if (/^(path|to|cwd|paths)$/.test(field)) return anyPath
  if (/sha256/i.test(field)) return fc.constant('a'.repeat(64))
  if (/glob|pattern/i.test(field)) return fc.constantFrom(...globs)
  if (field === 'command') return command
  if (field === 'patch') return patch
  if (field === 'id') return fc.constantFrom('note', 'process-1', 'new-note')
  if (field === 'query') return fc.constantFrom(...queries)
  if (/text|content|reason/i.test(field)) return fc.constantFrom(...texts)
  return fc.oneof(anyPath, fc.constantFrom(...globs, ...queries, ...texts, 'process-1', 'note'), command, patch)
}

type Schema = Readonly<Record<string, unknown>>

function valuesFor(field: string, schema: Schema): fc.Arbitrary<unknown> {
  const options = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (options !== undefined) return fc.oneof(...options.map((option) => valuesFor(field, option)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (schema.type === 'string') return textsFor(field)
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer' || schema.type === 'number') return fc.constantFrom(1, 2, 3, 50)
  if (schema.type === 'array') {
    return fc.array(valuesFor(field, (schema.items ?? {}) as Schema), { minLength: 1, maxLength: 2 })
  }
  if (schema.type === 'object') return inputsOf(schema)
  return fc.constant(null)
}

function inputsOf(schema: Schema): fc.Arbitrary<Record<string, unknown>> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const fields = Object.entries(properties).map(([field, own]) => [field, valuesFor(field, own)] as const)
  return fc.record(Object.fromEntries(fields), { requiredKeys: (schema.required ?? []) as string[] })
}

/** Random inputs for every built-in tool, generated from its schema. */
export const calls = builtinTools.map(({ name, input }) => {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema
  return { name, input: inputsOf(schema) }
})

/** The names of the secrets that a text contains. Secrets by name are also found reversed, in hex and in base64. */
export function leaks(text: string): string[] {
  const matches: string[] = []
  for (const [name, secret] of Object.entries(byName)) {
    const bytes = Buffer.from(secret)
    const forms = [secret, [...secret].reverse().join(''), bytes.toString('hex'), bytes.toString('base64').slice(0, -4)]
    if (forms.some((form) => text.includes(form))) matches.push(`by name: ${name}`)
  }
  for (const [name, secret] of Object.entries(byContent)) {
    if (text.includes(secret)) matches.push(`by content: ${name}`)
  }
  return matches
}
