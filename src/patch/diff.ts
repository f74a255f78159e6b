export { diffLines, type LineHunk } from './line-diff.ts'
export { binaryDiff, type FileVersion, type UnifiedDiff, unifiedDiff } from './unified-diff.ts'
