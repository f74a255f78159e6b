/**
 * The other side of the client's protocol, Comlink 4.3, written from its messages. A call names a path into an object and
 * gets an answer with its id. A marked object is passed as a port.
 */

interface Endpoint {
  postMessage(message: unknown, transfer: Transferable[]): void
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void
  start(): void
  close(): void
}

type Wire = { type: 0; value: unknown } | { type: 3; name: 'proxy' | 'throw'; value: unknown }

interface Message {
  readonly id: string
  readonly type: 0 | 1 | 2 | 3 | 4 | 5
  readonly path?: readonly string[]
  readonly argumentList?: readonly Wire[]
}

/** The types of messages that the client sends. It never sends SET, CONSTRUCT or ENDPOINT. */
const GET = 0
const APPLY = 2
const RELEASE = 5

const marked = new WeakSet<object>()

/** An object that stays on this side; the other side gets a port to it. */
export function byReference<T extends object>(object: T): T {
  marked.add(object)
  return object
}

/** Bytes that are transferred. */
export function handedOver(bytes: Uint8Array): Uint8Array {
  transfers.set(bytes, [bytes.buffer as ArrayBuffer])
  return bytes
}

const transfers = new WeakMap<object, Transferable[]>()

/** A function of the other side. */
export type Remote = (...args: unknown[]) => Promise<unknown>

export function expose(root: object, port: Endpoint): void {
  port.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    void serve(root, data).then(([answer, transfer]) => {
      port.postMessage({ ...answer, id: data.id }, transfer)
      if (data.type === RELEASE) port.close()
    })
  })
  port.start()
}

async function serve(root: object, message: Message): Promise<[Wire, Transferable[]]> {
  const { type, path = [], argumentList = [] } = message
  try {
    if (type === RELEASE) return [{ type: 0, value: undefined }, []]
    const parent = path.slice(0, -1).reduce(member, root)
    const target = path.reduce(member, root)
    if (type === GET) return toWire(await target)
    if (type !== APPLY) throw new Error(`The stand-in does not support messages of type ${type}`)
    return toWire(await (target as Remote).apply(parent, argumentList.map(fromWire)))
  } catch (error) {
    const { message, name } = error as Error
    return [{ type: 3, name: 'throw', value: { isError: true, value: { message: message, name, stack: '' } } }, []]
  }
}

function member(object: object, name: string): object {
  const member = (object as Record<string, object | undefined>)[name]
  if (member === undefined) throw new TypeError(`The stand-in has no member ${name}`)
  return member
}

function toWire(value: unknown): [Wire, Transferable[]] {
  if (typeof value === 'object' || typeof value === 'function') {
    if (value !== null && marked.has(value)) {
      const { port1, port2 } = new MessageChannel()
      expose(value, port1)
      return [{ type: 3, name: 'proxy', value: port2 }, [port2]]
    }
    return [{ type: 0, value }, transfers.get(value ?? {}) ?? []]
  }
  return [{ type: 0, value }, []]
}

/** The client passes only functions as ports. */
function fromWire(wire: Wire): unknown {
  if (wire.type === 0) return wire.value
  const port = wire.value as MessagePort
  port.start()
  return (...args: unknown[]) => {
    const wireArgs = args.map(toWire)
    const id = crypto.randomUUID()
    const answer = new Promise((resolve) => {
      port.addEventListener('message', function listen({ data }: MessageEvent<Message>) {
        if (data.id !== id) return
        port.removeEventListener('message', listen)
        resolve(data)
      })
    })
    port.postMessage(
      { id, type: APPLY, path: [], argumentList: wireArgs.map(([one]) => one) },
      wireArgs.flatMap(([, transfer]) => transfer),
    )
    return answer
  }
}
