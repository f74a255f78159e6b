import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A page with every built-in tool: what it is for, and the fields of its input as its JSON Schema has them. */
export async function toolsPage(top) {
  const load = (file) => import(pathToFileURL(join(top, 'dist', file)).href)
  const { createWorkspace } = await load('index.js')
  const { memory } = await load('backends/memory/index.js')
  const { bash } = await load('shells/bash/index.js')
  const { toJsonSchema } = await load('adapters/json-schema/index.js')
  const policy = { preset: 'autonomous', memory: { path: 'notes' } }
  const workspace = await createWorkspace({ backend: memory(), shell: bash(), mode: 'plan', policy })
  const sections = toJsonSchema(workspace.tools).map(toolSection)
  await workspace.close()
  return ['# Tools', intro, ...sections].join('\n\n')
}

/** What every success has. */
const common = new Set(['ok', 'summary', 'warnings', 'callId', 'artifactUri'])

const intro = `Every path is logical: POSIX, relative to the root. Every success also carries \`ok\`, \`summary\`, \`warnings\`, \`callId\` and, for a
change, \`artifactUri\` of its diff; a refusal is \`{ ok: false, code, message, hint, … }\`.`

function toolSection({ name, description, inputSchema, outputSchema }) {
  const required = new Set(inputSchema.required ?? [])
  const fields = Object.entries(inputSchema.properties ?? {}).map(
    ([field, schema]) =>
      `| \`${field}\`${required.has(field) ? '' : '?'} | ${cell(typeOf(schema))} | ${cell(wordsOf(schema))} |`,
  )
  const results = Object.keys(outputSchema?.properties ?? {})
    .filter((field) => !common.has(field))
    .map((field) => `\`${field}\``)
    .join(' ')
  const table = fields.length === 0 ? [] : ['', '| input | type | |', '| --- | --- | --- |', ...fields]
  return [`## ${name}`, '', escaped(description), ...table, '', `Result: ${results}`].join('\n')
}

function wordsOf({ description = '', default: standard }) {
  const words = escaped(description)
  if (standard === undefined) return words
  return `${words}${words === '' ? '' : '. '}Default: \`${JSON.stringify(standard)}\``
}

function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${JSON.stringify(one)}\``).join(' or ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})} list`
  return schema.const === undefined ? String(schema.type ?? 'any') : `\`${JSON.stringify(schema.const)}\``
}

/** Nothing in it is taken for HTML or for a template. */
function escaped(text) {
  return text.replace(/[<{*]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim()
}
