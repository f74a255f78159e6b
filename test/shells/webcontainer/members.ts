import { WebContainer } from '@webcontainer/api'
import { check, same, sameBytes } from '../../../src/testing/assert.ts'
import { until } from '../../until.ts'

/** Uses every public member of the real client. Returns their names. */
export async function members(): Promise<string[]> {
  const members: string[] = []
  const use = (name: string) => members.push(name)
  const events: Record<string, unknown[][]> = {}

  const container = await WebContainer.boot({ workdirName: 'members', coep: 'require-corp' })
  use('boot')
  same(container.workdir.endsWith('/members'), true, 'workdir')
  check(container.path.length > 0, 'path')
  use('workdir')
  use('path')

  const { fs } = container
  const bytes = Uint8Array.from({ length: 512 }, (_, i) => i & 255)
  await container.mount({
    'a.txt': { file: { contents: 'aé\n' } },
    'bytes.bin': { file: { contents: bytes } },
    link: { file: { symlink: 'a.txt' } },
    sub: { directory: { 'b.txt': { file: { contents: 'b\n' } } } },
  })
  await fs.mkdir('more/deep', { recursive: true })
  await container.mount({ 'c.txt': { file: { contents: 'c\n' } } }, { mountPoint: 'more/deep' })
  use('mount')

  same(await fs.readFile('a.txt', 'utf8'), 'aé\n', 'readFile')
  sameBytes(await fs.readFile('bytes.bin'), bytes, 'readFile of bytes')
  same(await failure(fs.readFile('nothing')), true, 'readFile of nothing')
  use('fs.readFile')
  await fs.writeFile('more/new.txt', 'text')
  await fs.writeFile('more/new.bin', bytes.subarray(3, 9))
  sameBytes(await fs.readFile('more/new.bin'), bytes.slice(3, 9), 'writeFile')
  use('fs.writeFile')
  use('fs.mkdir')
  same((await fs.readdir('.')).sort(), ['a.txt', 'bytes.bin', 'link', 'more', 'sub'], 'readdir')
  const entries = await fs.readdir('more', { withFileTypes: true })
  same(
    entries.map((one) => [one.name, one.isFile(), one.isDirectory()]).sort(),
    [
      ['deep', false, true],
      ['new.bin', true, false],
      ['new.txt', true, false],
    ],
    'readdir with types',
  )
  same((await fs.readdir('more', 'buffer'))[0] instanceof Uint8Array, true, 'readdir as bytes')
  use('fs.readdir')
  const fsEvents: string[] = []
  const watcher = fs.watch('more', { recursive: true }, (event, name) => fsEvents.push(`${event} ${name}`))
  await fs.readdir('.')
  await fs.rename('more/new.txt', 'more/renamed.txt')
  use('fs.rename')
  await fs.rm('more/new.bin')
  await fs.rm('more/deep', { recursive: true })
  await fs.rm('more/never', { force: true })
  use('fs.rm')
  await until('watch', () => fsEvents.includes('rename renamed.txt') && fsEvents.includes('rename new.bin'))
  watcher.close()
  use('fs.watch')

  const tree = await container.export('.', { excludes: ['sub'] })
  same(Object.keys(tree).sort(), ['a.txt', 'bytes.bin', 'link', 'more'], 'export')
  same(JSON.stringify(tree.link), '{"file":{"symlink":"a.txt"}}', 'export of a link')
  const snapshot = await container.export('sub', { format: 'binary' })
  await fs.mkdir('again')
  await container.mount(snapshot, { mountPoint: 'again' })
  same(await fs.readFile('again/b.txt', 'utf8'), 'b\n', 'a binary snapshot')
  use('export')

  const off: (() => void)[] = []
  for (const event of ['port', 'server-ready', 'preview-message', 'error', 'xdg-open', 'code'] as const) {
    events[event] = []
    off.push(container.on(event as 'error', (...args: unknown[]) => events[event]?.push(args)))
  }
  const lines = [
    'emit error [{"message":"told"}]',
    'emit xdg-open ["a.txt"]',
    'emit code ["file",{"files":[]}]',
    'emit preview-message [{"type":"PREVIEW_UNCAUGHT_EXCEPTION","message":"m","previewId":"1","port":1,"pathname":"/","search":"","hash":""}]',
  ]
  for (const line of lines) await (await container.spawn('jsh', ['-c', line])).exit
  const server = await container.spawn('jsh', ['-c', 'serve 4173'])
  await until('server-ready', () => events['server-ready']?.length === 1)
  same(events['server-ready']?.[0]?.[0], 4173, 'the port')
  server.kill()
  check((await server.exit) !== 0, 'exit after kill')
  use('process.kill')
  await until('the closing port', () => events.port?.length === 2)
  for (const event of ['error', 'xdg-open', 'code', 'preview-message']) same(events[event]?.length, 1, event)
  for (const one of off) one()
  await (await container.spawn('jsh', ['-c', lines[0] ?? ''])).exit
  same(events.error?.length, 1, 'error, after its listener went')
  use('on')

  const cat = await container.spawn('cat', ['a.txt', 'sub/b.txt'], { env: { A: 'b' } })
  same((await text(cat.output)).replaceAll('\r\n', '\n'), 'aé\nb\n', 'output')
  same(await cat.exit, 0, 'exit')
  use('spawn')
  use('process.output')
  use('process.exit')
  const inSub = await container.spawn('jsh', ['-c', 'pwd; terminal-size; exit 3'], {
    cwd: 'sub',
    terminal: { cols: 33, rows: 7 },
  })
  same((await text(inSub.output)).replaceAll('\r\n', '\n'), `${container.workdir}/sub\n33x7\n`, 'cwd and terminal')
  same(await inSub.exit, 3, 'its exit code')
  const quiet = await container.spawn('echo', ['x'], { output: false })
  same(await quiet.exit, 0, 'without output')

  const listening = await container.spawn('jsh', ['-c', 'listen'])
  const writer = listening.input.getWriter()
  listening.resize({ cols: 44, rows: 9 })
  use('process.resize')
  await writer.write('one\ntw')
  await writer.write('o\nexit\n')
  use('process.input')
  same(await text(listening.output), 'listening\r\nheard one, 44x9\r\nheard two, 44x9\r\n', 'what it heard')
  const shell = await container.spawn('jsh')
  const typed = shell.input.getWriter()
  await typed.write('echo typed > typed.txt\n')
  await typed.write('exit\n')
  same(await shell.exit, 0, 'a shell without a line')
  same(await fs.readFile('typed.txt', 'utf8'), 'typed\n', 'what was typed')

  await container.setPreviewScript('console.log(1)', { type: 'module' })
  const process = await container.spawn('cat', ['/workspace/preview-script.json'])
  check((await text(process.output)).includes('console.log(1)'), 'setPreviewScript')
  use('setPreviewScript')

  container.teardown()
  use('teardown')
  const next = await WebContainer.boot({ workdirName: 'next' })
  same(await next.fs.readdir('.'), [], 'another container')
  next.teardown()
  return members
}

async function text(output: ReadableStream<string>): Promise<string> {
  let all = ''
  const reader = output.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) all += next.value
  return all
}

function failure(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  )
}
