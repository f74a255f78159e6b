import type { Command } from 'just-bash'

/** Where the interpreter says that its programs are. */
const PROGRAMS = '/usr/bin'

/** `which`: the interpreter's own finds files only, and its programs have none. */
export function whichCommand(): Command {
  return {
    name: 'which',
    async execute(args, { origCommand, getRegisteredCommands }) {
      const programs = new Set(getRegisteredCommands?.() ?? [])
      const options = args.filter((arg) => arg.startsWith('-'))
      const names = args.filter((arg) => !arg.startsWith('-'))
      const unknown = options.find((option) => !/^-[as]+$/.test(option))
      if (unknown !== undefined)
        return { stdout: '', stderr: `which: ${unknown}: unknown option; use -a and -s\n`, exitCode: 2 }
      const showsAll = options.some((option) => option.includes('a'))
      const lines: string[] = []
      let exitCode = names.length === 0 ? 1 : 0
      for (const name of names) {
        const files = (await origCommand?.([...(showsAll ? ['-a'] : []), name]))?.stdout ?? ''
        const found = [...new Set([...files.split('\n'), ...(programs.has(name) ? [`${PROGRAMS}/${name}`] : [])])]
        const paths = found.filter((path) => path !== '')
        if (paths.length === 0) exitCode = 1
        lines.push(...(showsAll ? paths : paths.slice(0, 1)).map((path) => `${path}\n`))
      }
      const isSilent = options.some((option) => option.includes('s'))
      return { stdout: isSilent ? '' : lines.join(''), stderr: '', exitCode }
    },
  }
}
