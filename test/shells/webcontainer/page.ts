import { memory } from '../../../src/backends/memory/index.ts'
import { webcontainer } from '../../../src/shells/webcontainer/index.ts'
import { shellContract } from '../../../src/testing/index.ts'
import { live } from './live.ts'
import { members } from './members.ts'
import { lacking, scenarios } from './scenarios.ts'
import { without } from './without.ts'

declare global {
  var WEBCONTAINER_API_IFRAME_URL: string | undefined
}

const frame = new URLSearchParams(location.search).get('frame')
if (frame !== null && frame !== '') globalThis.WEBCONTAINER_API_IFRAME_URL = frame

const contract = shellContract({
  name: 'webcontainer',
  create: () => ({
    shell: webcontainer({ fallback: false, bootTimeoutMs: 30_000, graceMs: 1000 }),
    backend: memory(),
    physical: '/workspace/home/wardspace',
  }),
  skip: {
    'commands keep the permission bits of a script': 'a container reports no permission bits',
  },
})

/** Functions that tests in Node call. */
const api = {
  contractNames: () => contract.map(({ name }) => name),
  runCase: (name: string) => contract.find((one) => one.name === name)?.run(),
  scenarioNames: () => Object.keys(scenarios),
  runScenario: (name: string) => scenarios[name]?.(),
  runLacking: (name: string) => lacking[name]?.(),
  members,
  live,
  fallback: without,
}

export type PageApi = typeof api
Object.assign(globalThis, { api })
