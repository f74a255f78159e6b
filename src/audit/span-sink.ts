import { checkArgument, isObjectWith, refuseSurplus } from '../util/check-options.ts'
import type { AuditSink } from './audit-log.ts'
import type { AuditEntry } from './record.ts'

/** The part of a span of `@opentelemetry/api` that is used. */
export interface SpanLike {
  /** Sets whether the call failed: `code` 2 is an error. */
  setStatus(status: { code: number; message?: string }): unknown
  /** Ends the span. `endTime` is in milliseconds since 1970. */
  end(endTime?: number): void
}

/** The part of a tracer of `@opentelemetry/api` that is used, such as `trace.getTracer('wardspace')`. */
export interface TracerLike {
  /** Starts a span. `startTime` is in milliseconds since 1970. */
  startSpan(
    name: string,
    options?: { startTime?: number; kind?: number; attributes?: Record<string, string | number | boolean> },
  ): SpanLike
}

/** `SpanStatusCode.ERROR` and `SpanKind.INTERNAL`, so that the API need not be loaded. */
const ERROR = 2
const INTERNAL = 0

/**
 * Returns a sink that creates one span per call, with OpenTelemetry's attributes for agent tools: the tool, the actor, the
 * decision, the numbers of paths read and written, and the error code. It contains no paths, reasons or contents. The span
 * starts and ends with the call, by the workspace's clock, below the active span. The sink stores no records, so use it
 * beside another one. Errors of the tracer are ignored.
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
  refuseSurplus('spanSink()', 1, arguments)
  checkArgument('spanSink()', 'tracer', tracer, isObjectWith('a tracer', 'startSpan'))
  return {
    append() {},
    accept(entry) {
      if (entry.phase === 'intent') return
      try {
        spanOf(tracer, entry)
      } catch {
        // Tracing must not block calls.
      }
    },
  }
}

function spanOf(tracer: TracerLike, entry: AuditEntry): void {
  const { timestamp, durationMs = 0, code, policyDecision, approvals = [], label, step } = entry
  // The name of an unknown tool comes from the caller and must not reach the trace.
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
