import { must } from '../../util/check-options.ts'

/** The check of a class whose instances are thrown. */
export const isErrorClass = must('a class of errors', (value) => isConstructor(value))

function isConstructor(value: unknown): boolean {
  try {
    // Looks at the function without calling it.
    Reflect.construct(Object, [], value as never)
    return true
  } catch {
    return false
  }
}
