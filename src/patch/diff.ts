export { diffLines, type LineHunk } from './line-diff.ts'
export { type BinaryVersion, binaryDiff, type FileVersion, type UnifiedDiff, unifiedDiff } from './unified-diff.ts'
