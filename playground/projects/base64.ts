/** The part of the browser's own base64 that is used. Chromium has it since version 140. */
interface Native {
  readonly toBase64?: () => string
}
interface NativeClass {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>
}

const STEP = 32_768

/** Returns bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  const native = bytes as Native
  if (native.toBase64 !== undefined) return native.toBase64()
  let binary = ''
  for (let at = 0; at < bytes.length; at += STEP) binary += String.fromCharCode(...bytes.subarray(at, at + STEP))
  return btoa(binary)
}

/** Returns the bytes of a text in base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as NativeClass
  if (fromBase64 !== undefined) return fromBase64.call(Uint8Array, text)
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}
