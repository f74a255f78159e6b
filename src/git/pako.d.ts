declare module 'pako' {
  /** A zlib stream that is inflated in pieces. */
  export class Inflate {
    readonly err: number
    readonly ended: boolean
    readonly strm: { readonly avail_in: number }
    onData: (bytes: Uint8Array) => void
    push(bytes: Uint8Array, isLast: boolean): boolean
  }
  const pako: { readonly Inflate: typeof Inflate }
  export default pako
}
