import { Buffer as PortableBuffer } from 'buffer/'

/** Node's `Buffer`, or that of the package `buffer` on platforms without it. */
export const Buffer = globalThis.Buffer ?? PortableBuffer
