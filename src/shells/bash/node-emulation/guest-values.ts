import type { QuickJSAsyncContext, QuickJSHandle } from 'quickjs-emscripten'
import { decode, encode } from './text-encoding.ts'

/** Copies the bytes of an ArrayBuffer of the guest. */
export function bytesOf(context: QuickJSAsyncContext, handle: QuickJSHandle): Uint8Array {
  const lifetime = context.getArrayBuffer(handle)
  const copy = lifetime.value.slice()
  lifetime.dispose()
  return copy
}

export function newBytes(context: QuickJSAsyncContext, bytes: Uint8Array): QuickJSHandle {
  return context.newArrayBuffer(bytes.slice().buffer)
}

/** Reads a string of the guest. One that holds a zero travels as its UTF-16 code units: a C string ends at a zero. */
export function textOf(context: QuickJSAsyncContext, handle: QuickJSHandle | undefined): string {
  if (handle === undefined) return ''
  const isUnits = context.typeof(handle) === 'object'
  return isUnits ? decode(bytesOf(context, handle), 'utf16le') : context.getString(handle)
}

/** Makes a string for the guest, or its UTF-16 code units if it holds a zero. */
export function newText(context: QuickJSAsyncContext, text: string): QuickJSHandle {
  return text.includes('\0') ? newBytes(context, encode(text, 'utf16le')) : context.newString(text)
}

/**
 * Converts an error of the guest to one of ours, which may be thrown into the guest again. Its message names the first
 * frame of its stack. When memory runs out, the engine throws an error without a stack, or nothing at all.
 */
export function errorOf(context: QuickJSAsyncContext, handle: QuickJSHandle): Error {
  const { name, message, stack } = (context.dump(handle) ?? {}) as { name?: string; message?: string; stack?: string }
  const [frame] = (stack ?? '').trim().split('\n', 1)
  const text = message ?? 'unknown'
  return Object.assign(new Error(frame === '' ? text : `${text} (${frame})`), { name: name ?? 'Error' })
}

/** Describes an error as the guest shows it, even if the guest itself no longer can. */
export function describeError(context: QuickJSAsyncContext, error: QuickJSHandle): string {
  context.setProp(context.global, '__error', error)
  const result = context.evalCode('__ward.describe(__error)', '<error>', { type: 'global' })
  if (!result.error) return context.getString(result.value)
  const { name, message } = errorOf(context, error)
  return `${name}: ${message}`
}
