import { ToolError } from '../errors.ts'
import { isTakenMedia } from '../files/media/types.ts'
import {
  checkOptions,
  isAbortSignal,
  isFunction,
  isText,
  OptionError,
  type OptionTable,
} from '../util/check-options.ts'
import type { CallOptions } from './state/call.ts'

/** The options of a call, of whatever tool or operation. */
export const callOptionTable: OptionTable<CallOptions> = {
  signal: isAbortSignal,
  approve: isFunction,
  step: isText,
  media: isTakenMedia(),
  onProgress: isFunction,
}

/** Invalid options that a recording has only the message of. A replay passes them in place of the options. */
export class RefusedOptions {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/**
 * Returns the options of a call, checked. The options that only the library passes are unknown here.
 *
 * @throws ToolError `INVALID_INPUT` that names a wrong option
 */
export function checkCallOptions<T extends CallOptions = CallOptions>(
  owner: string,
  options: unknown,
  table: OptionTable<T> = callOptionTable as OptionTable<T>,
): T {
  if (options === undefined) return {} as T
  try {
    if (options instanceof RefusedOptions) throw new OptionError(options.message)
    return checkOptions<T>(owner, options, table)
  } catch (error) {
    throw new ToolError('INVALID_INPUT', textOf(error), { field: 'options' })
  }
}

/** Returns the message of a check, but not that of a getter or a proxy. */
function textOf(error: unknown): string {
  return error instanceof OptionError ? error.message : 'The options of the call cannot be read'
}
