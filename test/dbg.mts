import { runAtEdge } from './runtimes/host-edge-runtime.ts'
import { install } from './runtimes/consumer.ts'
import { edgeRouteModule } from './runtimes/bundler-programs.ts'
const i = install(['isomorphic-git','buffer'])
try {
const { GET } = await runAtEdge(i.project('edge', edgeRouteModule.replace('result.code', 'JSON.stringify(result)')), 'src/main.js')
console.log(await (await (GET as any)()).json())
} finally { i.remove() }
