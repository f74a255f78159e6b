import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

type Functions = typeof fs
type Name = {
  [K in keyof Functions]: Functions[K] extends (...inputs: never[]) => unknown ? K : never
}[keyof Functions]
type Call = (...values: unknown[]) => unknown

/**
 * Lets something happen at calls of the system that no disk does on demand: while `action` runs, `meddle` stands in the
 * place of the call of that name, and gets the real one to go on with. Everything else is the real thing.
 */
export async function meddling<T>(
  name: Name,
  meddle: (real: () => unknown, directory: string, ...more: unknown[]) => unknown,
  action: () => T | Promise<T>,
): Promise<T> {
  const real = fs[name] as unknown as Call
  const meddled: Call = (location, ...more) => meddle(() => real(location, ...more), String(location), ...more)
  // Whatever else hangs on the function, as `realpathSync.native` does.
  const { length, name: own, prototype, ...rest } = Object.getOwnPropertyDescriptors(real) as PropertyDescriptorMap
  set(name, Object.defineProperties(meddled, rest))
  try {
    return await action()
  } finally {
    set(name, real)
  }
}

/** The call of that name refuses with a system error, as often as told, where the place (or descriptor) matches. */
export function refusing<T>(
  name: Name,
  code: string,
  where: RegExp | ((...given: unknown[]) => boolean),
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

/** What runs in `action` takes this for another platform. */
export async function onPlatform<T>(platform: NodeJS.Platform, action: () => T | Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor
  Object.defineProperty(process, 'platform', { ...own, value: platform })
  try {
    return await action()
  } finally {
    Object.defineProperty(process, 'platform', own)
  }
}

/** An error of the system, with its name. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function set(name: Name, subject: Call): void {
  Object.assign(fs, { [name]: subject })
  syncBuiltinESMExports()
}
