import type { Command } from 'just-bash'
import { withOwnTexts } from './own-texts.ts'

/** Options that change nothing: there are no startup files, and nothing is interactive. */
const IGNORED: ReadonlySet<string> = new Set(['--login', '--norc', '--noprofile', '--posix'])

/** Names of `set -o` that the interpreter has. */
const SET_NAMES: ReadonlySet<string> = new Set([
  'errexit',
  'nounset',
  'pipefail',
  'xtrace',
  'verbose',
  'noglob',
  'noclobber',
])

/** `bash` and `sh` with options before the script: the interpreter's own take `-c` as the first word only. */
export function shellCommands(): Command[] {
  return ['bash', 'sh'].map((name) => ({
    name,
    async execute(args, { fs, cwd, origCommand }) {
      const call = parseArguments(args)
      if (typeof call === 'string') {
        return { stdout: '', stderr: `${name}: ${call}; use -l, -c, -e, -u, -x, -f, -v, -C and -o\n`, exitCode: 2 }
      }
      /* v8 ignore next -- @preserve: just-bash has both commands */
      if (origCommand === undefined) return { stdout: '', stderr: `${name}: not here\n`, exitCode: 2 }
      const { settings, runsText, operands } = call
      const run = async (words: string[]) => withOwnTexts(await origCommand(words))
      const [script, ...rest] = operands
      if (runsText) {
        if (script === undefined)
          return { stdout: '', stderr: `${name}: -c: option requires an argument\n`, exitCode: 2 }
        return run(['-c', settings + script, ...rest])
      }
      if (settings === '' || script === undefined) return run([...operands])
      const text = await fs.readFile(fs.resolvePath(cwd, script)).catch(() => undefined)
      return run(text === undefined ? [...operands] : ['-c', settings + text, ...operands])
    },
  }))
}

interface ShellArguments {
  /** A line that sets the options, or nothing. */
  readonly settings: string
  /** Whether the first operand is the text of the script, not its file. */
  readonly runsText: boolean
  readonly operands: readonly string[]
}

/** Returns a reason for an option that is not supported. */
function parseArguments(args: readonly string[]): ShellArguments | string {
  let settings = ''
  let runsText = false
  let index = 0
  for (; index < args.length; index++) {
    const arg = args[index] as string
    if (arg === '--' || arg === '-') {
      index += 1
      break
    }
    if (arg === '--help' || !/^[-+]/.test(arg)) break
    if (IGNORED.has(arg)) continue
    if (!/^-[lceuxfvCo]+$/.test(arg)) return `${arg}: option is not available in this shell`
    for (const letter of arg.slice(1)) {
      if (letter === 'c') runsText = true
      else if (letter === 'o') {
        index += 1
        const name = args[index] ?? ''
        if (!SET_NAMES.has(name)) return `-o ${name}: option is not available in this shell`
        settings += `set -o ${name}\n`
      } else if (letter !== 'l') settings += `set -${letter}\n`
    }
  }
  return { settings, runsText, operands: args.slice(index) }
}
