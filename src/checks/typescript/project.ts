import type { CheckFiles, Finding } from '../../call/state/checks.ts'
import type {
  Builder,
  CancellationToken,
  Compiler,
  Diagnostic,
  FileHost,
  ParsedConfig,
  Program,
  SourceFile,
} from './api.ts'
import { LIB, type LoadedFiles, type Pace } from './loaded-files.ts'

/** What one check of a project needs. Paths start with `/`. */
export interface ProjectCheck {
  readonly files: CheckFiles
  readonly loaded: LoadedFiles
  /** The files that the call has changed. */
  readonly changed: ReadonlySet<string>
  readonly token: CancellationToken
  readonly pace: Pace
}

/** What is wrong without a place in a source file. */
const WHOLE = ''

/** A project with what is known of it since the last change. */
export class Project {
  readonly #compiler: Compiler
  /** The path of its configuration. Nothing for files without one. */
  readonly #path: string | undefined
  /** The files of a project without a configuration. */
  readonly #roots = new Set<string>()
  #options = ''
  #sources = new Map<string, { readonly key: string; readonly source: SourceFile }>()
  #program: Program | undefined
  #builder: Builder | undefined
  #revision = -1
  /** The findings of each file after the last check. Those of a file that no check has looked at are not known. */
  readonly #known = new Map<string, readonly Finding[]>()
  /** Files whose findings may be others than those known. */
  readonly #affected = new Set<string>()

  constructor(compiler: Compiler, path: string | undefined) {
    this.#compiler = compiler
    this.#path = path
  }

  /** Adds files to a project without a configuration. */
  addRoots(paths: Iterable<string>): void {
    for (const path of paths) this.#roots.add(path)
  }

  /** Reads the configuration. */
  async config({ files, loaded, pace }: ProjectCheck): Promise<ParsedConfig> {
    const { ScriptTarget, ModuleKind, ModuleResolutionKind } = this.#compiler
    const path = this.#path
    if (path === undefined) {
      const { ES2022: target } = ScriptTarget
      const options = { target, module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler }
      return { options: { ...options, noEmit: true, skipLibCheck: true }, fileNames: [...this.#roots] }
    }
    return untilComplete(files, loaded, pace, () => {
      const host = loaded.host(this.#compiler)
      const json = this.#compiler.readJsonConfigFile(path, (at) => host.readFile(at) ?? '{}')
      const directory = path.slice(0, path.lastIndexOf('/')) || '/'
      return this.#compiler.parseJsonSourceFileConfigFileContent(json, host, directory, undefined, path)
    })
  }

  /**
   * Returns what is wrong in the changed files, and what the change has broken in others. The first time, when nothing is known
   * of the others, everything that is wrong in files that depend on a changed one.
   */
  async check(check: ProjectCheck, config: ParsedConfig): Promise<readonly Finding[]> {
    const { changed, token, pace } = check
    const diagnostics = this.#path === undefined ? [] : this.#compiler.getConfigFileParsingDiagnostics(config)
    const program = await this.#build(check, config, diagnostics)
    const builder = this.#builder as Builder
    await this.#collectAffected(check, program, builder)
    const whole = [...diagnostics, ...program.getOptionsDiagnostics(token), ...program.getGlobalDiagnostics(token)]
    const results = [{ path: WHOLE, found: whole }]
    for (const path of this.#affected) {
      await pace()
      const source = program.getSourceFile(path)
      if (source === undefined) continue
      const syntax = program.getSyntacticDiagnostics(source, token)
      results.push({ path, found: [...syntax, ...builder.getSemanticDiagnostics(source, token)] })
    }
    // A check that did not end in time leaves its files to the next one.
    this.#affected.clear()
    return results.flatMap(({ path, found }) => this.#news(path, found, changed.has(path)))
  }

  /** Adds the files in which the change may have made a difference. */
  async #collectAffected({ changed, token, pace }: ProjectCheck, program: Program, builder: Builder): Promise<void> {
    const isFirst = this.#known.size === 0
    const isIgnored = isFirst ? (source: SourceFile) => !dependsOn(builder, source, changed) : undefined
    for (;;) {
      await pace()
      const next = builder.getSemanticDiagnosticsOfNextAffectedFile(token, isIgnored)
      if (next === undefined) break
      const sources = 'fileName' in next.affected ? [next.affected] : next.affected.getSourceFiles()
      for (const { fileName } of sources) this.#affected.add(fileName)
    }
    for (const source of program.getSourceFiles()) {
      if (isFirst ? isIgnored?.(source) === false : changed.has(source.fileName)) this.#affected.add(source.fileName)
    }
  }

  /** Returns the findings of a file, those that are new or all of them, and remembers them. */
  #news(path: string, diagnostics: readonly Diagnostic[], isChanged: boolean): Finding[] {
    const findings = diagnostics.flatMap((diagnostic) => this.#findingOf(diagnostic))
    const known = this.#known.get(path)?.map(keyOf)
    this.#known.set(path, findings)
    if (isChanged || known === undefined) return findings
    return findings.filter((finding) => {
      const at = known.indexOf(keyOf(finding))
      if (at !== -1) known.splice(at, 1)
      return at === -1
    })
  }

  #findingOf({ file, start, category, code, messageText }: Diagnostic): Finding[] {
    const { DiagnosticCategory, flattenDiagnosticMessageText } = this.#compiler
    if (category !== DiagnosticCategory.Error && category !== DiagnosticCategory.Warning) return []
    const isOwn = file !== undefined && !file.fileName.startsWith(LIB)
    const { line = 0, character = 0 } = isOwn ? file.getLineAndCharacterOfPosition(start ?? 0) : {}
    return [
      {
        ...(isOwn ? { path: file.fileName.slice(1), line: line + 1, column: character + 1 } : {}),
        ...(category === DiagnosticCategory.Warning ? { severity: 'warning' } : {}),
        code: `TS${code}`,
        message: flattenDiagnosticMessageText(messageText, '\n'),
      },
    ]
  }

  async #build(check: ProjectCheck, config: ParsedConfig, diagnostics: readonly Diagnostic[]): Promise<Program> {
    const { files, loaded, pace } = check
    // Source files are bound by the options.
    const { configFile: _, ...given } = config.options
    const options = JSON.stringify(given)
    if (options !== this.#options) {
      this.#options = options
      this.#sources = new Map()
      this.#program = undefined
      this.#builder = undefined
    }
    const program = await untilComplete(files, loaded, pace, () => {
      // Files that were missing a moment ago may be there now.
      const isChanged = loaded.revision !== this.#revision
      return this.#compiler.createProgram({
        rootNames: config.fileNames,
        options: config.options,
        projectReferences: config.projectReferences,
        host: this.#host(check, loaded.host(this.#compiler), isChanged),
        oldProgram: this.#program,
        configFileParsingDiagnostics: diagnostics,
      })
    })
    this.#program = program
    this.#revision = loaded.revision
    const host = { useCaseSensitiveFileNames: () => true, writeFile() {} }
    this.#builder = this.#compiler.createSemanticDiagnosticsBuilderProgram(program, host, this.#builder, diagnostics)
    this.#forget(program)
    return program
  }

  #host({ loaded, token }: ProjectCheck, host: FileHost, isChanged: boolean): object {
    return {
      ...host,
      getSourceFile: (path: string, options: unknown) => {
        token.throwIfCancellationRequested()
        return this.#sourceOf(loaded, path, options)
      },
      getDefaultLibFileName: (options: ParsedConfig['options']) =>
        `${LIB}/${this.#compiler.getDefaultLibFileName(options)}`,
      getDefaultLibLocation: () => LIB,
      getCurrentDirectory: () => '/',
      getCanonicalFileName: (path: string) => path,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile() {},
      hasInvalidatedResolutions: () => isChanged,
      hasChangedAutomaticTypeDirectiveNames: () => isChanged,
      // Sources of referenced projects, not what they would be compiled to.
      useSourceOfProjectReferenceRedirect: () => true,
    }
  }

  /** Returns the same object for the same text, so that the compiler works only on what has changed. */
  #sourceOf(loaded: LoadedFiles, path: string, options: unknown): SourceFile | undefined {
    const file = loaded.textOf(path)
    if (file === undefined) return undefined
    const { languageVersion, impliedNodeFormat } = Object(options) as Readonly<Record<string, unknown>>
    const key = `${languageVersion ?? options} ${impliedNodeFormat} ${file.version}`
    const known = this.#sources.get(path)
    if (known?.key === key) return known.source
    const source = this.#compiler.createSourceFile(path, file.text, options)
    source.version = key
    this.#sources.set(path, { key, source })
    return source
  }

  /** Forgets what is no longer part of the program. */
  #forget(program: Program): void {
    const paths = new Set(program.getSourceFiles().map(({ fileName }) => fileName))
    for (const path of this.#sources.keys()) if (!paths.has(path)) this.#sources.delete(path)
    for (const path of this.#known.keys()) if (path !== WHOLE && !paths.has(path)) this.#known.delete(path)
  }
}

function keyOf({ code, message }: Finding): string {
  return `${code} ${message}`
}

function dependsOn(builder: Builder, source: SourceFile, changed: ReadonlySet<string>): boolean {
  return changed.has(source.fileName) || builder.getAllDependencies(source).some((path) => changed.has(path))
}

/** Repeats a computation until everything that it looks up is loaded. */
async function untilComplete<R>(files: CheckFiles, loaded: LoadedFiles, pace: Pace, compute: () => R): Promise<R> {
  for (;;) {
    const result = compute()
    if (loaded.isComplete) return result
    await loaded.loadMissed(files, pace)
  }
}
