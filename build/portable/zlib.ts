import { gzipSync as portableGzip } from 'fflate'
import { concatBytes } from '../../src/util/bytes.ts'
import { nodeModule } from '../../src/util/node-module.ts'
import { CheckedGunzip } from './checked-gunzip.ts'

/** The part of Node's zlib that the commands of the shell use. */
type Zlib = Pick<typeof import('node:zlib'), 'constants' | 'gunzipSync' | 'gzipSync'>

const native = nodeModule('zlib')

/** Bytes that are decompressed at once: the output may exceed its limit by about a thousand times as many. */
const SLICE = 4096

/** Decompresses a gzip file. Unlike fflate's own function, it stops at the limit, so that a small file cannot fill the memory. */
function gunzipSync(data: Uint8Array, { maxOutputLength = Number.POSITIVE_INFINITY } = {}): Uint8Array {
  const parts: Uint8Array[] = []
  let length = 0
  const gunzip = new CheckedGunzip((part) => {
    length += part.length
    if (length > maxOutputLength) throw new RangeError(`Cannot create a buffer larger than ${maxOutputLength} bytes`)
    parts.push(part)
  })
  for (let at = 0; at === 0 || at < data.length; at += SLICE) {
    gunzip.push(data.subarray(at, at + SLICE), at + SLICE >= data.length)
  }
  return concatBytes(parts)
}

function gzipSync(data: Uint8Array, { level = 6 } = {}): Uint8Array {
  return portableGzip(data, { level: (level < 0 ? 6 : level) as 6 })
}

const portable = {
  constants: { Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1 },
  gunzipSync,
  gzipSync,
}

export const zlib = (native ?? portable) as Zlib
export const { constants } = zlib
const { gunzipSync: gunzip, gzipSync: gzip } = zlib

export { gunzip as gunzipSync, gzip as gzipSync }
