import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }

/** Serves this folder with the installed package, to this machine only. */
const server = createServer(async ({ url = '/' }, response) => {
  const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname))
  const file = join(import.meta.dirname, path === '/' ? 'index.html' : path)
  try {
    const content = await readFile(file)
    response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' }).end(content)
  } catch {
    response.writeHead(404).end()
  }
})
const port = Number(process.env.PORT ?? 8080)
server.on('error', ({ code, message }) => {
  console.error(code === 'EADDRINUSE' ? `Port ${port} is taken. Choose another one: PORT=8081 npm start` : message)
  process.exitCode = 1
})
server.listen(port, '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}/`)
})
