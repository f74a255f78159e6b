import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { serve } from './serve.ts'

/**
 * `npm start`: serves the built playground on this machine, at `PORT` or a free port. Pages of the origins in `FRAMED_BY` may
 * show it in a frame.
 */
const { PORT = '0', FRAMED_BY: framedBy = '' } = process.env
const { url } = await serve(join(import.meta.dirname, '../dist'), { port: Number(PORT), framedBy })
console.log(`The playground is at ${url}\nIt ends with Ctrl+C.`)
if (process.stdout.isTTY && process.env.CI === undefined) openBrowser(url)

/** Opens the default browser, if possible. */
function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
  spawn(command as string, [...args, address], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
