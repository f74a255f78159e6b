import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { StdioTransport } from '../../src/cli/stdio-transport.ts'

const REQUESTS = 20

/** Serves a client that has sent its requests, and reads an answer with each call of `read`. */
async function serve() {
  const input = new PassThrough()
  const unread: (() => void)[] = []
  const output = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void unread.push(done) })
  const transport = new StdioTransport(input, output, () => {})
  const begun: number[] = []
  const state = { begun, isClosed: false }
  transport.onmessage = ({ id }: { id: number }) => {
    begun.push(id)
    void transport.send({ jsonrpc: '2.0', id })
  }
  transport.onclose = () => {
    state.isClosed = true
  }
  await transport.start()
  for (let id = 0; id < REQUESTS; id++) input.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`)
  input.end()
  const turns = async () => {
    for (let count = 0; count < 20; count++) await turn()
  }
  const read = async () => {
    unread.shift()?.()
    await turns()
  }
  await turns()
  return { state, output, read }
}

describe('a client over stdio that does not read', () => {
  it('has one answer in memory, and gets the others as it reads', async () => {
    const { state, read } = await serve()
    for (let count = 1; count <= REQUESTS; count++) {
      expect([state.begun.length, state.isClosed]).toEqual([count, count === REQUESTS])
      await read()
    }
    expect(state).toEqual({ begun: Array.from({ length: REQUESTS }, (_, id) => id), isClosed: true })
  })

  it('is left when its stdout breaks', async () => {
    const { state, output, read } = await serve()
    output.destroy(new Error('EPIPE'))
    await read()
    expect(state).toEqual({ begun: [0], isClosed: true })
  })
})

describe('many requests over stdio that take long', () => {
  it('begin when others are answered or cancelled, and get the answers of the client', async () => {
    const input = new PassThrough()
    const output = new PassThrough().resume()
    const transport = new StdioTransport(input, output, () => {})
    const received: { id?: number; method?: string }[] = []
    transport.onmessage = (message) => received.push(message)
    await transport.start()
    const last = async () => {
      await new Promise((resume) => setTimeout(resume, 5))
      return received.at(-1)
    }
    const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    for (let id = 0; id < 100; id++) send({ id, method: 'tools/call' })
    expect([await last(), received.length]).toMatchObject([{ id: 63 }, 64])
    send({ id: 'question', result: {} })
    expect(await last()).toMatchObject({ id: 'question' })
    await transport.send({ jsonrpc: '2.0', id: 7 })
    expect(await last()).toMatchObject({ id: 64 })
    send({ method: 'notifications/cancelled', params: { requestId: 8 } })
    expect(await last()).toMatchObject({ id: 65 })
    expect(received.at(-2)).toMatchObject({ method: 'notifications/cancelled' })
    // Of a request that has not begun: it comes behind it.
    send({ method: 'notifications/cancelled', params: { requestId: 99 } })
    for (let id = 0; id < 66; id++) await transport.send({ jsonrpc: '2.0', id })
    expect(await last()).toMatchObject({ method: 'notifications/cancelled' })
    expect(received.at(-2)).toMatchObject({ id: 99 })
  })
})
