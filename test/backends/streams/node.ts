import { nodeBackend } from '../../../src/backends/node/index.ts'
import { streamThrough } from './stream-through.ts'

/** A process of its own. Arguments: the root, the state directory, and the mebibytes. Prints the result. */
const [root = '', stateDir = '', mebibytes = ''] = process.argv.slice(2)
const before = process.memoryUsage.rss()
const streamed = await streamThrough(nodeBackend(root, { stateDir }), Number(mebibytes))
console.log(JSON.stringify({ ...streamed, peak: process.resourceUsage().maxRSS * 1024 - before }))
