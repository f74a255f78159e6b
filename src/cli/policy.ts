import { toJsonSchema } from '../adapters/json-schema/index.ts'
import type { DialectToolInfo } from '../dialects/runtime/types.ts'
import type { PolicyFinding } from '../policy/lint.ts'
import { bash } from '../shells/bash/index.ts'
import { builtinTools } from '../tools/index.ts'
import { findJsonError } from '../util/json-syntax.ts'
import type { Explanation, ToolDescription } from '../workspace/create-workspace.ts'
import { auditProblem } from './audit-file.ts'
import { checkPolicy } from './check-policy.ts'
import { dialectOf } from './dialect.ts'
import { configOf, type Options, openWorkspace } from './options.ts'
import { parseInput } from './parse-input.ts'
import { parseWords, refuseOptions, unknownAction } from './parse-words.ts'
import { inCommandLineWords } from './refusals.ts'
import { type Root, requireDirectories, rootsOf } from './roots.ts'

/**
 * `wardspace policy check`, or `wardspace policy explain TOOL PATH|COMMAND|JSON`: the second prints the verdict on a call, with every rule that applies. The call is not
 * made. Exit code 1 if it would be refused.
 */
export async function policy(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('policy', words, 3)
  const [action = '', tool, target] = positionals
  if (action === 'check') return check(values, positionals)
  if (action !== 'explain') throw unknownAction('policy', action)
  if (tool === undefined) throw new TypeError('Which tool? wardspace policy explain TOOL PATH')
  const extra = { shell: bash(), run: { actor: 'cli' } }
  const workspace = await openWorkspace(values, extra, await dialectOf(values.dialect))
  try {
    const tools: readonly (ToolDescription | DialectToolInfo)[] = workspace.tools
    const input = inputFor(
      tools.find(({ name }) => name === tool),
      target,
    )
    const explained = inCommandLineWords(await workspace.explainTool(tool, input))
    process.stdout.write(
      values.json === true
        ? `${JSON.stringify({ tool, input, ...explained })}\n`
        : asText(`${tool} ${target ?? ''}`.trimEnd(), explained),
    )
    return explained.ok && explained.verdict.decision !== 'deny' ? 0 : 1
  } finally {
    await workspace.close()
  }
}

/** `wardspace policy check`: prints what a policy leaves open and what has no effect. Exit code 1 if there is something. */
async function check(values: Options, [, surplus]: readonly string[]): Promise<number> {
  if (surplus !== undefined) throw new TypeError(`Unexpected argument "${surplus}"`)
  refuseOptions('policy check', values, ['read-only', 'overlay', 'plan'])
  requireDirectories(rootsOf(values.root))
  const dialect = await dialectOf(values.dialect)
  const { written, audit } = await configOf(values, dialect)
  const dialectTools = (dialect?.tools ?? []).map(({ name, input }) => {
    const permission = builtinTools.find((tool) => tool.name === name)?.permission
    return { name, input, ...(permission && { permission }) }
  })
  const tools = [...builtinTools, ...dialectTools]
  const findings = [...checkPolicy(written, { tools }), ...auditFindings(audit, rootsOf(values.root))]
  if (values.json === true) process.stdout.write(`${JSON.stringify(findings)}\n`)
  else if (findings.length === 0) process.stdout.write('No findings.\n')
  else for (const { rule, message, hint } of findings) process.stdout.write(`${rule}: ${message}\n  ${hint}\n`)
  return findings.length === 0 ? 0 : 1
}

function auditFindings(file: string | undefined, roots: readonly Root[]): readonly PolicyFinding[] {
  const problem = file === undefined ? undefined : auditProblem(file, roots)
  if (problem === undefined) return []
  const message = `The audit file "${file}" cannot be written: ${problem}`
  return [{ rule: 'audit', message, hint: 'Name a file outside of the root, in a directory that exists.' }]
}

/** The parts of a tool's JSON Schema that are read here. */
interface DescribedTool {
  readonly inputSchema: {
    readonly required?: readonly string[]
    readonly properties?: Readonly<Record<string, { readonly enum?: readonly unknown[]; readonly type?: string }>>
  }
}

/**
 * Makes an input with the target. Other required fields get made-up values, because the verdict on the paths does not depend on them. A JSON
 * text that is no object is an input too, which the tool refuses.
 */
function inputFor(tool: ToolDescription | DialectToolInfo | undefined, target: string | undefined): unknown {
  if (target !== undefined && /^\s*\{/.test(target)) return parseInput(target)
  if (target !== undefined && isJsonOf(target, /^\s*[["]/)) return JSON.parse(target)
  if (tool === undefined) return target === undefined ? {} : { path: target }
  const [described] = toJsonSchema([tool]) as unknown as readonly [DescribedTool]
  const { required = [], properties = {} } = described.inputSchema
  if (target === undefined) {
    if (required.length === 0) return {}
    throw new TypeError(`Which path or input? wardspace policy explain ${tool.name} PATH|COMMAND|JSON`)
  }
  const input: Record<string, unknown> = {}
  for (const name of required) {
    input[name] = properties[name]?.type === 'integer' ? 1 : (properties[name]?.enum?.[0] ?? 'x')
  }
  if ('expectedSha256' in input) input.expectedSha256 = '0'.repeat(64)
  const { command } = properties
  const patch = ['patch', 'input'].find((name) => name in properties)
  const path = ['path', 'file_path', 'dir_path', 'source'].find((name) => name in properties)
  if (command !== undefined && command.enum === undefined) {
    input.command = command.type === 'array' ? ['bash', '-c', target] : target
  } else if (patch !== undefined) {
    input[patch] = `*** Begin Patch\n*** Update File: ${target}\n@@\n-x\n+y\n*** End Patch\n`
  } else if (path !== undefined) input[path] = target
  if ('to' in properties) input.to = `${target}.to`
  if (tool.name === 'edit_file') Object.assign(input, { oldText: 'x', newText: 'y' })
  return input
}

function isJsonOf(text: string, start: RegExp): boolean {
  return start.test(text) && findJsonError(text) === undefined
}

const decisionNames = { allow: 'allowed', ask: 'asked about', deny: 'denied' } as const

function asText(call: string, explained: Explanation): string {
  if (!explained.ok) return `${call}: refused\n  ${explained.code}: ${explained.message}\n  ${explained.hint}\n`
  const { verdict, accesses, line } = explained
  const rows = verdict.rules.map(({ action, source, name, path }, index) => [
    index === 0 ? 'decides' : '',
    action,
    source,
    name,
    path === '' ? '.' : (path ?? ''),
  ])
  const reached = accesses.map(({ permission, asked, path, classification }) => [
    'reaches',
    permission,
    classification.kind,
    asked === '' ? '.' : asked,
    asked === path ? '' : `→ ${path}`,
  ])
  const commands = (line?.commands ?? []).map(({ text }) => ['starts', '', '', text, ''])
  return [
    `${call}: ${decisionNames[verdict.decision]}${verdict.code === undefined ? '' : ` (${verdict.code})`}`,
    `  ${verdict.reason}`,
    ...(verdict.hint === undefined ? [] : [`  ${verdict.hint}`]),
    '',
    ...table([...rows, ...reached, ...commands]),
    '',
  ].join('\n')
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => (row[column] as string).length)))
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
}
