import type { OwnCommand } from '../../../src/shells/bash/own-command.ts'

const arg = (args: readonly string[], index: number): string => args[index] ?? ''

/** Commands of one's own that read and change files by each operation that they get. */
export const fileCommands: Readonly<Record<string, OwnCommand>> = {
  async show([path = ''], { fs }) {
    return fs.readFile(path)
  },
  async 'show-bytes'([path = ''], { fs }) {
    return { stdout: await fs.readFileBuffer(path) }
  },
  async names([path = ''], { fs }) {
    const names = await fs.readdir(path)
    const sizes = await Promise.all(names.map(async (name) => (await fs.stat(`${path}/${name}`)).size))
    return names.map((name, index) => `${name} ${sizes[index]}\n`).join('')
  },
  async save(args, { fs, stdinBytes }) {
    await fs.writeFile(arg(args, 0), args.length > 1 ? arg(args, 1) : stdinBytes)
    return undefined
  },
  async add(args, { fs, stdin }) {
    await fs.appendFile(arg(args, 0), args[1] ?? stdin)
    return undefined
  },
  async drop([path = ''], { fs }) {
    await fs.rm(path, { recursive: true })
    return undefined
  },
  async take([from = '', to = ''], { fs }) {
    await fs.cp(from, to, { recursive: true })
    return undefined
  },
  async move([from = '', to = ''], { fs }) {
    await fs.mv(from, to)
    return undefined
  },
  async make([path = ''], { fs }) {
    await fs.mkdir(path, { recursive: true })
    return undefined
  },
  async mode([path = ''], { fs }) {
    await fs.chmod(path, 0o755)
    return undefined
  },
  async point([target = '', path = ''], { fs }) {
    await fs.symlink(target, path)
    return undefined
  },
}
