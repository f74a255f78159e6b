/*
 * The parts of the package typescript (5 and 6) that the check uses. They are declared here, because the declarations of the
 * package must not be needed to compile a program that uses `wardspace/checks`.
 */

export interface SourceFile {
  readonly fileName: string
  /** The builder compares files by it. */
  version?: string
  getLineAndCharacterOfPosition(position: number): { readonly line: number; readonly character: number }
}

export interface Diagnostic {
  readonly file?: SourceFile | undefined
  readonly start?: number | undefined
  readonly category: number
  readonly code: number
  readonly messageText: unknown
}

export type Options = Readonly<Record<string, unknown>>

export interface ParsedConfig {
  readonly options: Options
  readonly fileNames: readonly string[]
  readonly projectReferences?: readonly { readonly path: string }[] | undefined
}

/** The files that lookups of the compiler reach, as far as they are loaded. */
export interface FileHost {
  readonly useCaseSensitiveFileNames: boolean
  fileExists(path: string): boolean
  readFile(path: string): string | undefined
  directoryExists(path: string): boolean
  getDirectories(path: string): string[]
  readDirectory(
    path: string,
    extensions?: readonly string[],
    excludes?: readonly string[],
    includes?: readonly string[],
    depth?: number,
  ): string[]
}

export interface CancellationToken {
  isCancellationRequested(): boolean
  throwIfCancellationRequested(): void
}

export interface Program {
  getSourceFile(path: string): SourceFile | undefined
  getSourceFiles(): readonly SourceFile[]
  getSyntacticDiagnostics(file: SourceFile, token?: CancellationToken): readonly Diagnostic[]
  getOptionsDiagnostics(token?: CancellationToken): readonly Diagnostic[]
  getGlobalDiagnostics(token?: CancellationToken): readonly Diagnostic[]
}

/** A program that knows which files a change affects. */
export interface Builder {
  getSemanticDiagnostics(file: SourceFile, token?: CancellationToken): readonly Diagnostic[]
  getAllDependencies(file: SourceFile): readonly string[]
  getSemanticDiagnosticsOfNextAffectedFile(
    token?: CancellationToken,
    ignore?: (file: SourceFile) => boolean,
  ): { readonly affected: SourceFile | Program } | undefined
}

export interface Compiler {
  readonly version: string
  readonly sys?: { getExecutingFilePath(): string; readFile(path: string): string | undefined } | undefined
  readonly OperationCanceledException: new () => Error
  readonly DiagnosticCategory: { readonly Error: number; readonly Warning: number }
  readonly ScriptTarget: { readonly ES2022: number }
  readonly ModuleKind: { readonly ESNext: number }
  readonly ModuleResolutionKind: { readonly Bundler: number }
  createProgram(options: object): Program
  createSemanticDiagnosticsBuilderProgram(
    program: Program,
    host: object,
    old: Builder | undefined,
    configDiagnostics: readonly Diagnostic[],
  ): Builder
  createSourceFile(path: string, text: string, options: unknown): SourceFile
  flattenDiagnosticMessageText(message: unknown, newLine: string): string
  getConfigFileParsingDiagnostics(config: ParsedConfig): readonly Diagnostic[]
  getDefaultLibFileName(options: Options): string
  parseJsonSourceFileConfigFileContent(
    config: unknown,
    host: FileHost,
    directory: string,
    existing: undefined,
    path: string,
  ): ParsedConfig
  readJsonConfigFile(path: string, readFile: (path: string) => string | undefined): unknown
  /** Finds the files of a project by the patterns of its configuration. Not documented, but exported by 5 and 6. */
  matchFiles(
    path: string,
    extensions: readonly string[] | undefined,
    excludes: readonly string[] | undefined,
    includes: readonly string[] | undefined,
    caseSensitive: boolean,
    directory: string,
    depth: number | undefined,
    entriesOf: (path: string) => { readonly files: readonly string[]; readonly directories: readonly string[] },
    realpath: (path: string) => string,
  ): string[]
}
