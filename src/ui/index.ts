export { isRefusal } from '../errors.ts'
export { canHavePattern, createPattern, proposePaths } from './approval-pattern.ts'
export {
  type ApprovalCall,
  type ApprovalPattern,
  type Approvals,
  type ApprovalsOptions,
  type ApprovalsSnapshot,
  createApprovals,
  type PendingApproval,
} from './approvals.ts'
export { type Attachment, readAttachment } from './attachments.ts'
export {
  type ChangeOutcome,
  type Changes,
  type ChangesOptions,
  type ChangesSnapshot,
  createChanges,
  type DiffLayout,
  type ReviewedFile,
  type SavedReview,
} from './changes.ts'
export { type CommentDraft, commentsInWords, type ReviewComment } from './changes-comments.ts'
export type { ChangeHunk } from './changes-hunks.ts'
export type { ChangeContent, ChangedFile, ChangedFiles, ChangesSource } from './changes-source.ts'
export type { Controller } from './controller.ts'
export {
  type Answer,
  type Conversation,
  type ConversationCall,
  type ConversationItem,
  type ConversationOptions,
  type ConversationSnapshot,
  createConversation,
  type Message,
  type Respond,
} from './conversation.ts'
export { createEditor, type Editor, type EditorSnapshot } from './editor.ts'
export { createFiles, type Files } from './files.ts'
export type { FileEntry, FileListing, FilesSource } from './files-source.ts'
export type {
  FileChanges,
  FileClipboard,
  FileNotice,
  FileRow,
  FilesOptions,
  FilesSnapshot,
  Naming,
  ReplaceQuestion,
} from './files-state.ts'
export { createHistory, type FileHistory, type HistoryPoint, type HistorySnapshot } from './history.ts'
export type { JsonNode, JsonPath } from './json-text.ts'
export {
  createMessageDraft,
  type Drafts,
  type MessageDraft,
  type MessageDraftOptions,
  type MessageDraftSnapshot,
} from './message-draft.ts'
export type { PersonOptions } from './person-run.ts'
export {
  createPolicyEditor,
  type PolicyEditor,
  type PolicyEditorOptions,
  type PolicyEditorSnapshot,
  type PolicyFault,
  type PolicyQuestions,
} from './policy-editor.ts'
export type { FileEffect, FileState, PolicyEffect, PolicyTrial } from './policy-effect.ts'
export type { ReadPolicy } from './read-policy.ts'
export {
  createTerminal,
  type LineParts,
  type SavedTerminal,
  type Terminal,
  type TerminalLine,
  type TerminalOptions,
  type TerminalSnapshot,
  type TerminalStream,
} from './terminal.ts'
export type { Completion, TerminalFiles } from './terminal-completion.ts'
export { createTimeline, type Timeline, type TimelineEntry, type TimelineSnapshot } from './timeline.ts'
export { type Call, createTrackedCall, type TrackOptions, trackAction, trackCalls } from './track-calls.ts'
export { questionInWords } from './words/approval-words.ts'
export { aboutCall, type CallOutcome, outcomeOf } from './words/call-words.ts'
export { type CodeWords, codeWords } from './words/code-words.ts'
export { blockedInWords, headlineOf, type Refusal, refusalInWords } from './words/person-words.ts'
export { refusalsOf } from './words/refusals.ts'
export {
  type DecidingRule,
  decisionWords,
  labelWords,
  type ProtectionWords,
  protectionWords,
  ruleInWords,
  verdictInWords,
} from './words/verdict-words.ts'
