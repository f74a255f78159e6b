import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Functions = typeof fs
type Name = {
  [K in keyof Functions]: Functions[K] extends (...inputs: never[]) => unknown ? K : never
}[keyof Functions]
type Call = (...values: unknown[]) => unknown

/**
 * Simulates events that a disk does not produce on demand. While `action` runs, `meddle` replaces the system call
 * `name`, and receives the real one. All other calls are real.
 */
export async function meddling<T>(
  name: Name,
  meddle: (real: () => unknown, directory: string, ...more: unknown[]) => unknown,
  action: () => T | Promise<T>,
): Promise<T> {
  const real = fs[name] as unknown as Call
  const meddled: Call = (location, ...more) => meddle(() => real(location, ...more), String(location), ...more)
  // Keeps properties of the function, such as `realpathSync.native`.
  const { length, name: own, prototype, ...rest } = Object.getOwnPropertyDescriptors(real) as PropertyDescriptorMap
  set(name, Object.defineProperties(meddled, rest))
  try {
    return await action()
  } finally {
    set(name, real)
  }
}

/** Makes the system call `name` fail with `code` up to `times` times, if its path or descriptor matches. */
export function refusing<T>(
  name: Name,
  code: string,
  where: RegExp | ((...args: unknown[]) => boolean),
  action: () => T | Promise<T>,
  times = Number.POSITIVE_INFINITY,
): Promise<T> {
  let left = times
  const concerns = (place: string, more: unknown[]) =>
    where instanceof RegExp ? where.test(place) : where(place, ...more)
  return meddling(
    name,
    (real, place, ...more) => {
      if (left === 0 || !concerns(place, more)) return real()
      left -= 1
      throw systemError(code)
    },
    action,
  )
}

/** Runs `action` with another `process.platform`. */
export async function onPlatform<T>(platform: NodeJS.Platform, action: () => T | Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor
  Object.defineProperty(process, 'platform', { ...own, value: platform })
  try {
    return await action()
  } finally {
    Object.defineProperty(process, 'platform', own)
  }
}

/** A system error with its code. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function set(name: Name, subject: Call): void {
  Object.assign(fs, { [name]: subject })
  syncBuiltinESMExports()
}
