/** Copies the parts, in order, into a new array. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

/** Returns bytes of their own. `slice` of a Node `Buffer` shares the bytes with it. */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && samePrefix(a, b, a.length)
}

/** Compares the first `length` bytes. False if either array is shorter. */
export function samePrefix(a: Uint8Array, b: Uint8Array, length: number): boolean {
  if (a.length < length || b.length < length) return false
  if (a === b) return true
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get as (
  this: unknown,
) => string | undefined

/** Whether a value is a `Uint8Array`, also one of another realm: in tests with jsdom, the global one is not that of Node. */
export function isUint8Array(value: unknown): value is Uint8Array {
  return tagOf.call(value) === 'Uint8Array'
}

/** Orders bytes as unsigned numbers, a beginning before what continues it. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** What is kept of bytes that never change, for their lifetime. */
export interface ByteFacts {
  /** The version of the bytes, once it was computed. */
  sha256: string | undefined
  /** Whether no mark hides a part of them. */
  areWithoutSecrets: boolean
}

const facts = new WeakMap<Uint8Array, ByteFacts>()

/** Returns what is kept of bytes. One entry for all: a new one in a weak map costs as much as a search of 4 KiB. */
export function factsOf(bytes: Uint8Array): ByteFacts {
  let ofBytes = facts.get(bytes)
  if (ofBytes === undefined) {
    ofBytes = { sha256: undefined, areWithoutSecrets: false }
    facts.set(bytes, ofBytes)
  }
  return ofBytes
}
