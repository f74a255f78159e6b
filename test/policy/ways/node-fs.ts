import { createFs, type WorkspaceFs } from '../../../dist/adapters/fs/index.js'
import { PLAN } from './tree.ts'

/** A use of a function of `wardspace/fs`. */
export type FsUse = (fs: WorkspaceFs) => Promise<unknown>

/** Calls a function with a callback. */
function called(fs: WorkspaceFs, name: keyof WorkspaceFs, ...args: unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const callback = (error: unknown, ...values: unknown[]) => (error ? reject(error) : resolve(values.at(-1)))
    ;(fs[name] as (...all: unknown[]) => void)(...args, callback)
  })
}

/** Opens a file, uses its number, and closes it. */
async function byNumber(fs: WorkspaceFs, path: string, flags: string, use: (fd: unknown) => Promise<unknown>) {
  const fd = await called(fs, 'open', path, flags)
  const value = await use(fd)
  await called(fs, 'close', fd)
  return value
}

const written = (fs: WorkspaceFs, path: string, options?: object): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const stream = fs.createWriteStream(path, options)
    stream.on('error', reject).on('close', resolve as () => void)
    stream.end('n')
  })

const collected = async (stream: AsyncIterable<Uint8Array | string>) => {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

/** The uses that change something below `docs`, by name. */
export const fsChanges: Readonly<Record<string, FsUse>> = {
  writeFile: (fs) => fs.promises.writeFile('/docs/a.md', 'n'),
  'writeFile with a callback': (fs) => called(fs, 'writeFile', 'docs/new.md', 'n'),
  appendFile: (fs) => fs.promises.appendFile('/docs/a.md', 'n'),
  truncate: (fs) => fs.promises.truncate('/docs/a.md', 2),
  chmod: (fs) => fs.promises.chmod('/docs/a.md', 0o755),
  unlink: (fs) => fs.promises.unlink('/docs/a.md'),
  symlink: (fs) => fs.promises.symlink('a.md', '/docs/l'),
  mkdir: (fs) => fs.promises.mkdir('/docs/n'),
  rm: (fs) => fs.promises.rm('/docs/b', { recursive: true }),
  rename: (fs) => fs.promises.rename('/docs/a.md', '/src/a.md'),
  'rename onto': (fs) => fs.promises.rename('/src/x.md', '/docs/a.md'),
  copyFile: (fs) => fs.promises.copyFile('/src/x.md', '/docs/x.md'),
  cp: (fs) => fs.promises.cp('/src/x.md', '/docs/x.md'),
  open: async (fs) => {
    const handle = await fs.promises.open('/docs/a.md', 'r+')
    await handle.write('n')
    await handle.close()
  },
  'open with bits': async (fs) => {
    const { O_WRONLY = 0, O_CREAT = 0 } = fs.constants
    await using handle = await fs.promises.open('/docs/new.md', O_WRONLY | O_CREAT)
    await handle.writeFile('n')
  },
  write: (fs) => byNumber(fs, '/docs/a.md', 'w', (fd) => called(fs, 'write', fd, 'n')),
  writev: (fs) => byNumber(fs, '/docs/a.md', 'a', (fd) => called(fs, 'writev', fd, [new Uint8Array([110])])),
  ftruncate: (fs) => byNumber(fs, '/docs/a.md', 'r+', (fd) => called(fs, 'ftruncate', fd, 1)),
  fchmod: (fs) => byNumber(fs, '/docs/a.md', 'r', (fd) => called(fs, 'fchmod', fd, 0o755)),
  fsync: (fs) =>
    byNumber(fs, '/docs/a.md', 'a', async (fd) => {
      await called(fs, 'appendFile', fd, 'n')
      await called(fs, 'fsync', fd)
    }),
  createWriteStream: (fs) => written(fs, '/docs/a.md'),
  'writeFile of parts': (fs) => fs.promises.writeFile('/docs/a.md', ['n', 'n']),
  'readFile that creates': (fs) => fs.promises.readFile('/docs/new.md', { flag: 'a+' }),
  'cp of what a link leads to': (fs) => fs.promises.cp('/src/x.md', '/docs/x.md', { dereference: true }),
  'createWriteStream of a handle': async (fs) => {
    const handle = await fs.promises.open('/docs/a.md', 'w')
    const stream = handle.createWriteStream()
    await new Promise((resolve, reject) => {
      stream.on('error', reject).on('close', resolve as () => void)
      stream.end('n')
    })
  },
  'createWriteStream that appends': (fs) => written(fs, '/docs/b/c.md', { flags: 'a' }),
}

/** The uses that show the content of {@link PLAN}, by name. */
export const fsViews: Readonly<Record<string, FsUse>> = {
  readFile: (fs) => fs.promises.readFile(`/${PLAN}`, 'utf8'),
  'readFile with a callback': (fs) => called(fs, 'readFile', PLAN, 'utf8'),
  open: async (fs) => {
    await using handle = await fs.promises.open(`/${PLAN}`)
    return String(await handle.readFile('utf8'))
  },
  read: (fs) =>
    byNumber(fs, `/${PLAN}`, 'r', async (fd) => {
      return new TextDecoder().decode((await called(fs, 'read', fd, new Uint8Array(100))) as Uint8Array)
    }),
  readv: (fs) =>
    byNumber(fs, `/${PLAN}`, 'a+', async (fd) => {
      const [bytes] = (await called(fs, 'readv', fd, [new Uint8Array(100)], 0)) as Uint8Array[]
      return new TextDecoder().decode(bytes)
    }),
  'readFile with a flag': (fs) => fs.promises.readFile(`/${PLAN}`, { encoding: 'utf8', flag: 'a+' }),
  'createReadStream of a handle': async (fs) => collected((await fs.promises.open(`/${PLAN}`)).createReadStream()),
  'cp of what a link leads to, then readFile': (fs) =>
    fs.promises
      .symlink('private', '/dl')
      .then(() => fs.promises.cp('/dl', '/copy', { recursive: true, dereference: true }))
      .then(() => fs.promises.readFile('/copy/plan.md', 'utf8')),
  createReadStream: (fs) => collected(fs.createReadStream(`/${PLAN}`, 'utf8')),
  openAsBlob: async (fs) => (await fs.openAsBlob(`/${PLAN}`)).text(),
  'copyFile, then readFile': (fs) =>
    fs.promises.copyFile(`/${PLAN}`, '/copy.md').then(() => fs.promises.readFile('/copy.md', 'utf8')),
  'cp, then readFile': (fs) =>
    fs.promises.cp('/private', '/copy', { recursive: true }).then(() => fs.promises.readFile('/copy/plan.md', 'utf8')),
  'rename, then readFile': (fs) =>
    fs.promises.rename(`/${PLAN}`, '/moved.md').then(() => fs.promises.readFile('/moved.md', 'utf8')),
  'symlink, then readFile': (fs) =>
    fs.promises.symlink(PLAN, '/link').then(() => fs.promises.readFile('/link', 'utf8')),
}

/** The ways of a list of uses. */
export const fsWays = <A>(uses: Readonly<Record<string, FsUse>>, asAnswer: (use: Promise<unknown>) => Promise<A>) =>
  Object.entries(uses).map(([name, use]) => ({
    name: `fs ${name}`,
    act: ({ workspace }: { readonly workspace: Parameters<typeof createFs>[0] }) => asAnswer(use(createFs(workspace))),
  }))
