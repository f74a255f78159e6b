/** The kind of a text file without protection, by its name. */
export type TextKind = 'TEXT_SOURCE' | 'TEXT_CONFIG' | 'TEXT_DOC'

/** Kinds by the last extension, in lower case, without the dot. */
export const kindByExtension: ReadonlyMap<string, TextKind> = table({
  TEXT_SOURCE: `ada adb ads asm astro awk bash bat bzl c cc cjs clj cljc cljs cls cmd coffee cpp cr cs csh cshtml css csx cts
    cu cuh cxx d dart el elm erl ex exs f f03 f90 f95 fish for frag fs fsi fsx gd glsl go gql gradle graphql groovy h hbs hh
    hlsl hpp hrl hs htm html hx hxx inl ino java jinja jinja2 jl js jsx kt kts leex less lisp lua m metal mjs ml mli mm mts
    nim njk nix nu nut pas php phtml pl pm proto ps1 psm1 pug purs py pyi pyx qml r rb re rkt rs s sass scala scm scss sh
    sol sql st styl sv svelte swift tcl ts tsx twig v vb vert vhd vhdl vim vue wat wgsl xaml xhtml xsl xslt zig zsh`,
  TEXT_CONFIG: `avsc bazelrc browserslistrc cfg cmake cnf conf config csproj csv desktop dhall dockerfile editorconfig
    entitlements env fsproj geojson gitattributes gitignore gitmodules gn gni gypi gyp har hcl hocon http ini ipynb iml
    json json5 jsonc jsonl jsonld ldif map mk ndjson nomad plist podspec pro properties props rc reg rest service sln
    storyboard svg tf tfvars toml tsv vbproj vcxproj webmanifest wsdl xcconfig xib xml xsd yaml yml`,
  TEXT_DOC:
    'adoc asciidoc bib diff log markdown md mdown mdx me mkd org patch pod rdoc rst rtf tex texi text textile txt wiki',
})

/** Kinds by the whole name, in lower case. */
export const kindByName: ReadonlyMap<string, TextKind> = table({
  TEXT_SOURCE:
    'build.bazel makefile gnumakefile rakefile gemfile justfile jenkinsfile vagrantfile guardfile brewfile gradlew',
  TEXT_CONFIG: `.babelrc .browserslistrc .clang-format .clang-tidy .dockerignore .editorconfig .env.example .env.sample
    .env.template .eslintignore .eslintrc .gitattributes .gitignore .gitkeep .gitmodules .mailmap .npmignore .nvmrc
    .prettierignore .prettierrc .stylelintrc .tool-versions cmakelists.txt codeowners containerfile dockerfile go.mod go.work
    pipfile procfile requirements.txt workspace`,
  TEXT_DOC: `authors changelog changes contributing contributors copying copyright faq history install licence license
    maintainers news notice readme thanks todo version`,
})

function table(namesByKind: Readonly<Record<TextKind, string>>): ReadonlyMap<string, TextKind> {
  const kinds = new Map<string, TextKind>()
  for (const [kind, names] of Object.entries(namesByKind)) {
    for (const name of names.split(/\s+/)) kinds.set(name, kind as TextKind)
  }
  return kinds
}
