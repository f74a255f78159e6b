import type { ErrorCode, Failure } from '../../errors.ts'

/** A code of the engine in the words of a person. */
export interface CodeWords {
  /** What happened, in a few words. */
  readonly title: string
  /** Why, and what the person can do. */
  readonly why: string
}

const words = (title: string, why: string): CodeWords => ({ title, why })

/** Every code of the engine for a person. The texts for models are the messages and hints of the engine. */
export const codeWords: Readonly<Record<ErrorCode, CodeWords>> = {
  INVALID_INPUT: words('Not understood', 'The call was filled in wrongly, so it was not carried out.'),
  UNKNOWN_TOOL: words('No such tool', 'The agent called a tool that does not exist here.'),
  PATH_REJECTED: words('Blocked: outside the project', 'The agent can only reach files inside this project.'),
  NOT_FOUND: words('Not found', 'There is no file or folder of this name.'),
  ALREADY_EXISTS: words('Already there', 'A file or folder of this name exists, and it is not overwritten.'),
  IS_DIRECTORY: words('A folder, not a file', 'This works on files only.'),
  NOT_A_DIRECTORY: words('A file, not a folder', 'A part of this path is a file.'),
  DIRECTORY_NOT_EMPTY: words('Folder not empty', 'Only an empty folder can be deleted in this way.'),
  POLICY_DENIED: words('Blocked by the policy', 'The policy does not allow this. You can change it in Policy.'),
  POLICY_DENIED_SECRET: words(
    'Blocked: secret file',
    'It may hold keys or passwords, so the agent never sees its content. The protection is built in.',
  ),
  READ_ONLY: words('Blocked: read only', 'Files can be read here, and not changed.'),
  PLAN_MODE: words('Waiting for a plan', 'Nothing is changed before you approve a plan of the agent.'),
  TAINT_DENIED: words(
    'Blocked: would publish confidential content',
    'The agent has read confidential files in this run, so it cannot write to places that are less protected.',
  ),
  COMMAND_DENIED: words('Blocked: command', 'The policy and the built-in protections do not let the agent run this.'),
  APPROVAL_REQUIRED: words('Waiting for you', 'The call goes on when you approve it.'),
  APPROVAL_DENIED: words('You refused this', 'Nothing was changed.'),
  FILE_TOO_LARGE: words('File too large', 'It is over the size that one call may handle. The agent can read a part.'),
  LIMIT_EXCEEDED: words('Over a limit', 'The call asked for more than one call may return or use.'),
  RATE_LIMITED: words('Too many calls', 'The agent has reached the calls of one minute. It can go on soon.'),
  WRITE_CONFLICT: words('Not the expected version', 'The file is not as it was read. Nothing was changed.'),
  EDIT_NO_MATCH: words('Text not found', 'The passage to replace is not in the file. Nothing was changed.'),
  EDIT_AMBIGUOUS: words('More than one match', 'The passage to replace occurs more than once. Nothing was changed.'),
  INVALID_PATCH: words('Patch not readable', 'The patch of the agent is malformed. Nothing was changed.'),
  PATCH_CONFLICT: words('Patch does not fit', 'The file has other lines at this place. Nothing was changed.'),
  PATCH_BUDGET_EXCEEDED: words('Patch too large', 'The patch changes more than the policy allows at once.'),
  UNSUPPORTED_BINARY: words('Not a text', 'The file is binary, and this works on texts only.'),
  UNSUPPORTED_ENCODING: words(
    'Unknown encoding',
    'The text could not be written back byte for byte, so it stays as it is.',
  ),
  INVALID_PATTERN: words('Search not readable', 'The search pattern is malformed.'),
  SEARCH_TIMEOUT: words('Search stopped', 'The search took too long.'),
  COMMAND_TIMEOUT: words('Stopped: took too long', 'The command ran longer than the policy of this page allows.'),
  SHELL_UNAVAILABLE: words('Not available here', 'This command cannot run in a browser.'),
  ABORTED: words('Stopped', 'Nothing was changed.'),
  NO_SPACE: words('Storage full', 'The browser has no space left for this project. The old content is intact.'),
  BACKEND_ERROR: words('Storage failed', 'The browser could not read or write. The old content is intact.'),
  AUDIT_FAILED: words('Not recorded', 'The call could not be recorded, so it was not carried out.'),
  HOOK_FAILED: words('Check failed', 'A check that belongs to this page failed.'),
}

/** What happened to the file of a `WRITE_CONFLICT`, by the message of the engine. */
const conflictWords: readonly (readonly [RegExp, title: string])[] = [
  [/never read|needs expected/, 'Not read before'],
  [/ not exist$| not there$/, 'Deleted meanwhile'],
  [/exists already|created meanwhile/, 'Created meanwhile'],
  [/ chang(ed|es)\b|expected version$/, 'Changed meanwhile'],
]

/** The words for a failure. Those of a conflict depend on its cause. */
export function wordsOf({ code, message }: Pick<Failure, 'code' | 'message'>): CodeWords {
  const words = codeWords[code] ?? codeWords.BACKEND_ERROR
  const conflict = code === 'WRITE_CONFLICT' && conflictWords.find(([cause]) => cause.test(message))
  return conflict ? { ...words, title: conflict[1] } : words
}
