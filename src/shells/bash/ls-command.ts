import type { Command, CommandContext, ExecResult } from 'just-bash'
import { type Flags, parseFlags } from './flags.ts'
import { longListing } from './long-listing.ts'
import { resolvePath } from './virtual-paths.ts'

const table = {
  plain: {
    ...{
      '-a': 'all',
      '--all': 'all',
      '-A': 'almost',
      '--almost-all': 'almost',
      '-d': 'directory',
      '--directory': 'directory',
    },
    ...{
      '-F': 'classify',
      '--classify': 'classify',
      '-h': 'human',
      '--human-readable': 'human',
      '-l': 'long',
      '-1': 'one',
    },
    ...{
      '-r': 'reverse',
      '--reverse': 'reverse',
      '-R': 'recursive',
      '--recursive': 'recursive',
      '-S': 'size',
      '-t': 'time',
    },
  },
  valued: {},
}

/**
 * `ls` with several operands, as that of GNU: first the files in their order, then each directory with its name. The
 * interpreter's own, which lists each of them, puts an empty line between all. Its long format has no links and one mode.
 */
export function lsCommand(): Command {
  return {
    name: 'ls',
    async execute(args, context) {
      const list = async (...words: string[]): Promise<ExecResult> =>
        (await context.origCommand?.(words)) ?? { stdout: '', stderr: 'ls: not here\n', exitCode: 2 }
      const flags = parseFlags(args, table)
      if (flags !== undefined && flags.count('long') > 0) return longListing(flags, context)
      if (flags === undefined || flags.operands.length < 2) return list(...args)
      const options = args
        .slice(0, args.includes('--') ? args.indexOf('--') : undefined)
        .filter((arg) => /^-./.test(arg))
      const { files, directories } = await sorted(flags, context)
      const results: ExecResult[] = []
      for (const file of files) results.push(await list(...options, '--', file))
      for (const directory of directories) {
        const result = await list(...options, '--', directory)
        const isFirst = results.every(({ stdout }) => stdout === '')
        // With -R, its name is there already.
        const head = result.stdout.startsWith(`${directory}:\n`) ? '' : `${directory}:\n`
        results.push({ ...result, stdout: `${isFirst ? '' : '\n'}${head}${result.stdout}` })
      }
      return {
        stdout: results.map(({ stdout }) => stdout).join(''),
        stderr: results.map(({ stderr }) => stderr).join(''),
        exitCode: Math.max(...results.map(({ exitCode }) => exitCode)),
      }
    },
  }
}

/** The operands in the order of the flags. What is missing is a file: its listing says so. */
async function sorted(flags: Flags, { cwd, fs }: CommandContext) {
  const entries = await Promise.all(
    flags.operands.map(async (name) => ({ name, stat: await fs.stat(resolvePath(cwd, name)).catch(() => undefined) })),
  )
  entries.sort(
    (a, b) =>
      (flags.count('size') > 0 ? (b.stat?.size ?? 0) - (a.stat?.size ?? 0) : 0) ||
      (flags.count('time') > 0 ? Number(b.stat?.mtime ?? 0) - Number(a.stat?.mtime ?? 0) : 0) ||
      (a.name < b.name ? -1 : Number(a.name > b.name)),
  )
  if (flags.count('reverse') > 0) entries.reverse()
  const isListed = ({ stat }: (typeof entries)[number]) => stat?.isDirectory === true && flags.count('directory') === 0
  return {
    files: entries.filter((entry) => !isListed(entry)).map(({ name }) => name),
    directories: entries.filter(isListed).map(({ name }) => name),
  }
}
