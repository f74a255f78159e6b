import { expect } from 'vitest'

/** Compares equal bytes at once: `toEqual` needs some microseconds for each of them. Anything else is left to it. */
expect.addEqualityTesters([
  (a: unknown, b: unknown) =>
    a instanceof Uint8Array &&
    b instanceof Uint8Array &&
    Object.getPrototypeOf(a) === Object.getPrototypeOf(b) &&
    a.length === b.length &&
    a.every((byte, at) => byte === b[at])
      ? true
      : undefined,
])
