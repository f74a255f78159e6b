import { BYTE, MATCH, type Program, SPLIT } from './dfa-program.ts'
import type { Condition, Nfa } from './nfa.ts'
import { OrderedSet } from './ordered-set.ts'
import { isWordByte } from './word-byte.ts'

/**
 * What a run looks for.
 *
 * - `lines`: whether some line matches, over many lines; `\r\n` ends a line like `\n`. A run ends at the first match.
 * - `rest`: the same from an offset inside a line; stops at the end of the line, or as soon as no match is in progress.
 * - `first`: the end of the leftmost match in one line, given without its line end; among the matches that start there,
 *   the one that the pattern prefers.
 * - `longest`: the longest match from the start of the run.
 */
export type Goal = 'lines' | 'rest' | 'first' | 'longest'

/** Steps of a set of NFA states by one byte: the part of a DFA that computes its transitions. */
export class DfaStep {
  private readonly program: Program
  private readonly goal: Goal
  private readonly stopsAtMatch: boolean
  private readonly startState: number
  /** States that are reached by the current byte. */
  private readonly reached: OrderedSet
  /** States before the current byte, with the conditions that hold there followed. */
  private readonly open: OrderedSet
  private readonly scratch: Uint16Array
  private readonly stack: number[] = []
  // The position of the current step.
  private atEnd = false
  private edgeBehind = false
  private wordBehind = false
  private wordAhead = false
  private inCharacter = false

  constructor(nfa: Nfa, program: Program, goal: Goal) {
    this.program = program
    this.goal = goal
    this.stopsAtMatch = goal === 'lines' || goal === 'rest'
    this.startState = nfa.start
    this.reached = new OrderedSet(nfa.states.length)
    this.open = new OrderedSet(nfa.states.length)
    this.scratch = new Uint16Array(nfa.states.length)
  }

  /** The states in which a run begins. */
  startStates(atEdge: boolean): Uint16Array {
    this.reached.clear()
    this.follow(this.startState, atEdge)
    return this.remembered()
  }

  /**
   * Reads one byte, or the end of the line (-1), in all states of `list`. Returns whether a match ends before it; for
   * the goals `lines` and `rest`, the step is incomplete then.
   */
  read(list: Uint16Array, byte: number, edgeBehind: boolean, wordBehind: boolean): boolean {
    const { program, open } = this
    this.atEnd = byte < 0
    this.edgeBehind = edgeBehind
    this.wordBehind = wordBehind
    this.wordAhead = isWordByte(byte)
    // Positions inside of a multi-byte character do not count. Only a run towards the end can meet them.
    this.inCharacter = this.goal !== 'longest' && byte >= 0x80 && byte < 0xc0
    open.clear()
    for (let i = 0; i < list.length; i++) this.resolve(list[i] as number)

    this.reached.clear()
    let matched = false
    for (let i = 0; i < open.size; i++) {
      const state = open.items[i] as number
      const kind = program.kinds[state]
      if (kind === MATCH) {
        matched = true
        // The states after it are less preferred than this match.
        if (this.stopsAtMatch || this.goal === 'first') break
      } else if (kind === BYTE) {
        const end = program.edgeEnds[state] as number
        for (let edge = program.edgeStarts[state] as number; edge < end; edge++) {
          if ((program.lows[edge] as number) <= byte && byte <= (program.highs[edge] as number)) {
            this.follow(program.targets[edge] as number, false)
          }
        }
      }
    }
    return matched
  }

  /** The states after {@link read}; with `restart`, also those of a match that begins here. */
  nextStates(restart: boolean): Uint16Array {
    if (restart) this.follow(this.startState, false)
    return this.remembered()
  }

  /** Adds a state and those behind its conditions, which can be decided now that the next byte is known. */
  private resolve(state: number): void {
    const { program, stack, open } = this
    stack.push(state)
    while (stack.length > 0) {
      const top = stack.pop() as number
      if (open.has(top)) continue
      open.add(top)
      if (program.kinds[top] === SPLIT && this.holds(program.conditions[top] as Condition)) this.pushTargets(top)
    }
  }

  private holds(condition: Condition): boolean {
    switch (condition) {
      case 'none':
        return true
      case 'edgeBehind':
        return this.edgeBehind
      case 'edgeAhead':
        return this.atEnd
      case 'word':
        return this.wordBehind !== this.wordAhead
      case 'notWord':
        return this.wordBehind === this.wordAhead && !this.inCharacter
    }
  }

  /** Adds the states reachable without a byte and without knowing the next one, the preferred ones first. */
  private follow(state: number, atEdge: boolean): void {
    const { program, stack, reached } = this
    stack.push(state)
    while (stack.length > 0) {
      const top = stack.pop() as number
      if (reached.has(top)) continue
      reached.add(top)
      if (program.kinds[top] !== SPLIT) continue
      const condition = program.conditions[top]
      if (condition === 'none' || (condition === 'edgeBehind' && atEdge)) this.pushTargets(top)
    }
  }

  private pushTargets(state: number): void {
    const { program, stack } = this
    const first = program.edgeStarts[state] as number
    for (let edge = (program.edgeEnds[state] as number) - 1; edge >= first; edge--) {
      stack.push(program.targets[edge] as number)
    }
  }

  /** The reached states that a DFA state must remember: without followed splits and what a match makes irrelevant. */
  private remembered(): Uint16Array {
    const { program, goal, reached, scratch } = this
    let count = 0
    for (let i = 0; i < reached.size; i++) {
      const state = reached.items[i] as number
      if (program.kinds[state] === MATCH && goal !== 'longest') {
        if (this.stopsAtMatch) count = 0
        scratch[count++] = state
        break
      }
      if (mustRemember(program, state)) scratch[count++] = state
    }
    const list = scratch.slice(0, count)
    return goal === 'first' ? list : list.sort()
  }
}

function mustRemember(program: Program, state: number): boolean {
  if (program.kinds[state] !== SPLIT) return true
  const condition = program.conditions[state]
  return condition !== 'none' && condition !== 'edgeBehind'
}
