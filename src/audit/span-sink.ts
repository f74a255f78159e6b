import type { AuditSink } from './audit-log.ts'
import type { AuditEntry } from './record.ts'

/** As much of a span of `@opentelemetry/api` as is used. */
export interface SpanLike {
  /** Says whether the call failed: `code` 2 is an error. */
  setStatus(status: { code: number; message?: string }): unknown
  /** Ends the span; milliseconds since 1970. */
  end(endTime?: number): void
}

/** As much of a tracer of `@opentelemetry/api` as is used: `trace.getTracer('wardspace')` is one. */
export interface TracerLike {
  /** Begins a span; times are milliseconds since 1970. */
  startSpan(
    name: string,
    options?: { startTime?: number; kind?: number; attributes?: Record<string, string | number | boolean> },
  ): SpanLike
}

/** `SpanStatusCode.ERROR` and `SpanKind.INTERNAL` of the API, which is not loaded for two numbers. */
const ERROR = 2
const INTERNAL = 0

/**
 * A sink that makes one span of each call, with the attributes that OpenTelemetry names for tools of agents: which tool, by
 * whom, what was decided, how many paths were read and written, and the code of a refusal. No path, no reason and no content is in
 * it. The span begins and ends with the call, by the workspace's clock, under whatever span is active where the call was made. It
 * keeps nothing: give it beside another sink. A tracer that throws holds up nothing.
 *
 * @example
 * const tracer = { startSpan: (name) => ({ setStatus() {}, end: () => console.log(name) }) } // trace.getTracer('wardspace')
 * const workspace = await createWorkspace({
 *   backend: memory({ 'a.txt': 'a' }),
 *   policy: 'autonomous',
 *   audit: [memorySink(), spanSink(tracer)],
 * })
 * await workspace.call('read_file', { path: 'a.txt' }) // execute_tool read_file
 */
export function spanSink(tracer: TracerLike): AuditSink {
  if (typeof tracer?.startSpan !== 'function') throw new TypeError('spanSink needs a tracer with startSpan')
  return {
    append() {},
    accept(entry) {
      if (entry.phase === 'intent') return
      try {
        spanOf(tracer, entry)
      } catch {
        // Whoever watches must not be able to stop the work.
      }
    },
  }
}

function spanOf(tracer: TracerLike, entry: AuditEntry): void {
  const { timestamp, durationMs = 0, code, policyDecision, approvals = [], label, step } = entry
  // What a caller made up is no name of a tool.
  const tool = code === 'UNKNOWN_TOOL' ? 'unknown' : entry.toolName
  const span = tracer.startSpan(`execute_tool ${tool}`, {
    kind: INTERNAL,
    startTime: timestamp - durationMs,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': entry.toolCallId,
      'wardspace.run.id': entry.runId,
      'wardspace.actor': entry.actor,
      'wardspace.decision': policyDecision.decision,
      'wardspace.paths.read': entry.pathsRead.length,
      'wardspace.paths.written': entry.pathsWritten.length,
      'wardspace.refusals': entry.refusals?.length ?? 0,
      'wardspace.approvals': approvals.length,
      ...(label === undefined ? {} : { 'wardspace.label': label }),
      ...(code === undefined ? {} : { 'error.type': code, 'wardspace.step': step ?? 'unknown' }),
    },
  })
  if (code !== undefined) span.setStatus({ code: ERROR, message: code })
  span.end(timestamp)
}
