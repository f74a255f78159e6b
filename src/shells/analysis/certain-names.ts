/** What the statements before a point of a script have certainly done: defined functions, and set variables. */
export class CertainNames {
  readonly #outer: CertainNames | undefined
  readonly #functions = new Set<string>()
  readonly #variables = new Set<string>()
  #forgetsFunctions = false

  constructor(outer?: CertainNames) {
    this.#outer = outer
  }

  addFunction(name: string): void {
    this.#functions.add(name)
  }

  addVariable(name: string): void {
    this.#variables.add(name)
  }

  /** A sourced file may remove functions that are defined before it. */
  forgetFunctions(): void {
    this.#functions.clear()
    this.#forgetsFunctions = true
    this.#outer?.forgetFunctions()
  }

  hasFunction(name: string): boolean {
    if (this.#functions.has(name)) return true
    return !this.#forgetsFunctions && this.#outer?.hasFunction(name) === true
  }

  hasVariable(name: string): boolean {
    return this.#variables.has(name) || this.#outer?.hasVariable(name) === true
  }
}
