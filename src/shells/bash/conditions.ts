import type { CommandNode, ExecResult, PipelineNode, SimpleCommandNode, StatementNode } from 'just-bash'
import { nodesOf } from './syntax-nodes.ts'

type Output = Pick<ExecResult, 'stdout' | 'stderr'>
type ConditionalNode = Extract<CommandNode, { type: 'If' | 'While' | 'Until' }>

/** The parts of just-bash's class of interpreters that are used here. */
interface StatementInterpreter {
  readonly ctx: { readonly state: ErrexitState }
  executePipeline(node: PipelineNode): Promise<ExecResult>
  executeCommand(node: CommandNode, ...rest: readonly unknown[]): Promise<ExecResult>
  executeStatement(node: StatementNode): Promise<ExecResult>
}

/** Where `set -e` does not end the script: in a condition, and behind what has failed there. */
interface ErrexitState {
  inCondition: boolean
  errexitSafe: boolean
  readonly lastExitCode: number
}

/** An error that ends a script, a function or a loop, with the output until then. */
interface ControlFlowError extends Output {
  readonly name: string
  prependOutput?(stdout: string, stderr: string): void
}

/** A loop or a choice that runs. */
interface Frame {
  readonly node: ConditionalNode
  readonly conditions: readonly (readonly StatementNode[])[]
  /** Its output so far, and that before the condition that runs. */
  output: Output
  before: Output
  hasBegun: boolean
}

const NO_OUTPUT: Output = { stdout: '', stderr: '' }

/** Makes `set -e` ignore what fails in front of `&&` and `||` and behind `!`, at any depth, and in the last round of a loop. */
export function ignoreAsBash(prototype: object): void {
  const interpreter = prototype as StatementInterpreter
  const { executePipeline, executeStatement } = interpreter
  const ignored = new WeakSet<PipelineNode>()
  interpreter.executeStatement = function (statement) {
    const { pipelines, isImplicit = false } = statement as StatementNode & { readonly isImplicit?: boolean }
    for (const [index, pipeline] of pipelines.entries()) {
      if (isImplicit) break
      if (pipeline.negated || index < pipelines.length - 1) ignored.add(pipeline)
    }
    return executeStatement.call(this, statement)
  }
  interpreter.executePipeline = async function (pipeline) {
    const { state } = this.ctx
    const { inCondition } = state
    if (ignored.has(pipeline)) state.inCondition = true
    try {
      const result = await executePipeline.call(this, pipeline)
      if (pipeline.commands.length > 1) state.errexitSafe = false
      return result
    } finally {
      state.inCondition = inCondition
    }
  }
}

/**
 * Keeps the output of loops and choices whose condition ends the script: just-bash drops that of earlier rounds and conditions, and for
 * `while` that of the condition, too.
 */
export function keepConditionOutput(prototype: object): void {
  const interpreter = prototype as StatementInterpreter
  const { executeCommand, executeStatement } = interpreter
  /** The frames of each interpreter, which runs one statement at a time. */
  const running = new WeakMap<object, Frame[]>()
  interpreter.executeCommand = async function (node, ...rest) {
    if (node.type !== 'If' && node.type !== 'While' && node.type !== 'Until') {
      const { state } = this.ctx
      const { lastExitCode } = state
      const result = await executeCommand.call(this, node, ...rest)
      if (node.type === 'SimpleCommand' && result.exitCode === lastExitCode && isPlainAssignment(node, result))
        return { ...result, exitCode: 0 }
      // What a function or a substitution ignores ends what has called it.
      if (node.type === 'SimpleCommand' && result.exitCode !== 0) state.errexitSafe = false
      return result
    }
    const frames = running.get(this.ctx) ?? []
    running.set(this.ctx, frames)
    const conditions = node.type === 'If' ? node.clauses.map(({ condition }) => condition) : [node.condition]
    const depth = frames.push({ node, conditions, output: NO_OUTPUT, before: NO_OUTPUT, hasBegun: false }) - 1
    try {
      const result = await executeCommand.call(this, node, ...rest)
      // A condition runs last, but the body has ended the loop with its exit code.
      if (node.type !== 'If' && frames[depth]?.hasBegun === true) this.ctx.state.errexitSafe = true
      return result
    } finally {
      frames.length = depth
    }
  }
  interpreter.executeStatement = async function (statement) {
    const frame = running.get(this.ctx)?.at(-1)
    const condition = frame?.conditions.find((list) => list.includes(statement))
    const isInBody = frame !== undefined && 'body' in frame.node && frame.node.body.includes(statement)
    if (frame === undefined || (condition === undefined && !isInBody)) return executeStatement.call(this, statement)
    if (condition?.[0] === statement) Object.assign(frame, { before: frame.output, hasBegun: true })
    try {
      const result = await executeStatement.call(this, statement)
      frame.output = joined(frame.output, result)
      return result
    } catch (error) {
      if (condition !== undefined) addDropped(error as ControlFlowError, frame)
      // A loop goes on after `continue`.
      else frame.output = joined(frame.output, error as ControlFlowError)
      throw error
    }
  }
}

/** Whether a command only sets variables, and has set them. just-bash leaves the exit code of the command before. */
function isPlainAssignment({ name, assignments, redirections }: SimpleCommandNode, { stderr }: ExecResult): boolean {
  if (name !== null || assignments.length === 0 || redirections.length > 0 || stderr !== '') return false
  return !assignments.some((assignment) => nodesOf(assignment).some(({ type }) => type === 'CommandSubstitution'))
}

function joined(first: Output, { stdout = '', stderr = '' }: Partial<Output>): Output {
  return { stdout: first.stdout + stdout, stderr: first.stderr + stderr }
}

/** Adds to the error of a condition what just-bash does not add. */
function addDropped(error: ControlFlowError, { node, output, before }: Frame): void {
  const { prependOutput } = error
  if (prependOutput === undefined) return
  if (node.type === 'While') {
    // These it adds to the output of the loop.
    if (error.name !== 'BreakError' && error.name !== 'ContinueError')
      error.prependOutput?.(output.stdout, output.stderr)
    return
  }
  // The condition adds its own output next, which comes behind.
  error.prependOutput = function (this: ControlFlowError, stdout, stderr) {
    error.prependOutput = prependOutput
    const { stdout: all, stderr: errors } = joined(before, { stdout, stderr })
    prependOutput.call(this, all, errors)
  }
}
