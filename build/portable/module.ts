import { nodeModule } from '../../src/util/node-module.ts'

/** Node's modules that packages require at run time, for platforms without them. */
const portable: Readonly<Record<string, unknown>> = {
  buffer: {},
  process: { env: {}, emitWarning() {} },
  tty: { isatty: () => false },
}

/** Returns a `require` for modules of Node only. */
export function createRequire(): (name: string) => unknown {
  return (name) => nodeModule(name) ?? portable[name] ?? {}
}
