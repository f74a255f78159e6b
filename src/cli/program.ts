import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../util/check-options.ts'
import { actionsOf, type CommandName, unknownAction } from './parse-words.ts'
import { usageOf } from './usage.ts'

type Command = (words: string[]) => Promise<number>

/** Loaders of the commands. A command takes its words and returns the exit code: 0 for success, 1 for a refusal. */
const commands: Readonly<Record<CommandName, () => Promise<Command>>> = {
  acp: async () => (await import('./acp.ts')).acp,
  approve: async () => (await import('./approve.ts')).approve,
  audit: async () => (await import('./audit.ts')).audit,
  call: async () => (await import('./call.ts')).call,
  demo: async () => (await import('./demo.ts')).demo,
  mcp: async () => (await import('./mcp.ts')).mcp,
  overlay: async () => (await import('./overlay.ts')).overlay,
  policy: async () => (await import('./policy.ts')).policy,
  replay: async () => (await import('./replay.ts')).replay,
  report: async () => (await import('./report.ts')).report,
  tools: async () => (await import('./tools.ts')).tools,
}

/**
 * Ends the program if its output cannot be written. Says why, except where the reader has stopped, as in
 * `wardspace demo | head`.
 */
export function handleOutputError({ code, message }: NodeJS.ErrnoException): void {
  const reason = code === 'ENOSPC' ? 'no space is left on the device' : (code ?? message)
  if (code !== 'EPIPE') process.stderr.write(`wardspace: Cannot write the output: ${reason}\n`)
  process.exit(2)
}

/** Runs the command that the words name, and returns its exit code. */
export async function program([name = 'help', ...words]: readonly string[]): Promise<number> {
  // Words after `--` are not options, so a `--help` there belongs to the input.
  const options = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  try {
    if (name === 'help' || isHelp(name)) {
      process.stdout.write(usageOf(topicOf(words)))
      return 0
    }
    if (name === '--version' || name === '-v') {
      if (words[0] !== undefined) throw new TypeError(`Unexpected argument "${words[0]}"`)
      process.stdout.write(`${version()}\n`)
      return 0
    }
    if (!isCommand(name)) throw unknownCommand(name)
    if (options.some(isHelp)) {
      process.stdout.write(usageOf(name))
      return 0
    }
    return await (await commands[name]())(words)
  } catch (error) {
    /* v8 ignore next -- @preserve: nothing here throws a value other than an Error */
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`wardspace: ${message}\n`)
    // Misconfiguration and wrong usage are always TypeErrors.
    if (error instanceof TypeError) process.stderr.write(`See: wardspace help${isCommand(name) ? ` ${name}` : ''}\n`)
    return 2
  }
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h'
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name)
}

/** Returns the command that `wardspace help` is to describe. */
function topicOf(words: readonly string[]): CommandName | undefined {
  const [topic = 'help', ...others] = words.filter((word) => !isHelp(word))
  const isTopic = isCommand(topic)
  if (!isTopic && topic !== 'help') throw unknownCommand(topic)
  const [action] = others
  const takesAction = topic in actionsOf && action !== undefined
  if (takesAction && !hasAction(topic, action)) throw unknownAction(topic as keyof typeof actionsOf, action)
  const surplus = takesAction ? others[1] : action
  if (surplus !== undefined) throw new TypeError(`Unexpected argument "${surplus}"`)
  return isTopic ? topic : undefined
}

/** Whether a command has an action. */
function hasAction(command: string, action: string): boolean {
  return Object.entries(actionsOf).some(([name, actions]) => name === command && actions.includes(action as never))
}

function unknownCommand(name: string): TypeError {
  return new TypeError(`There is no command "${name}"${commandHelp(name)}`)
}

function commandHelp(name: string): string {
  const names = ['help', ...Object.keys(commands)]
  if (name.startsWith('-')) {
    return didYouMean(name, ['--help', '--version']) || '; options follow a command, such as: wardspace tools --json'
  }
  const [owner] = names.filter((command) => hasAction(command, name))
  if (owner !== undefined) return `; did you mean "${owner} ${name}"?`
  const isTool = /^[a-z]+[_.-][a-z_.-]+$/.test(name)
  const help = didYouMean(name, [...names, '--version'])
  return isTool
    ? `; a tool is called with: wardspace call ${name}`
    : help || didYouMean(name, names, 'the commands are')
}

/** Returns the version of the package. */
function version(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
