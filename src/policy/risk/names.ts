import { classifyPath } from '../../files/classify/index.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { languageOf } from './languages.ts'

const list = (names: string) => new Set(names.split(/\s+/))

/** Complete names, in lower case, of files that decide how a project is built, tested, packaged or delivered. */
const buildNames = list(`package.json deno.json deno.jsonc bunfig.toml turbo.json nx.json lerna.json pnpm-workspace.yaml
  .babelrc .swcrc gulpfile.js gruntfile.js pyproject.toml setup.py setup.cfg tox.ini noxfile.py pipfile manifest.in
  environment.yml go.mod go.work cargo.toml build.rs rust-toolchain rust-toolchain.toml pom.xml build.xml build.gradle
  build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradlew gradlew.bat mvnw mvnw.cmd build.sbt makefile
  gnumakefile justfile rakefile gemfile taskfile.yml cmakelists.txt meson.build configure.ac build build.bazel workspace
  workspace.bazel module.bazel dockerfile containerfile jenkinsfile .gitlab-ci.yml .travis.yml azure-pipelines.yml
  bitbucket-pipelines.yml cloudbuild.yaml .goreleaser.yml .goreleaser.yaml .dockerignore wrangler.toml wrangler.json
  wrangler.jsonc vercel.json netlify.toml fly.toml`)

const buildPatterns = [
  /^(?:vitest|jest)\.workspace\.(?:[cm]?[jt]s|json)$/,
  /^(?:tsconfig|jsconfig)(?:\.[\w.-]+)?\.json$/,
  /^(?:vite|vitest|webpack|rollup|rolldown|esbuild|tsup|babel|jest|playwright|next|nuxt|svelte|astro|metro|postcss|tailwind|karma|rspack|swc|tsdown|unbuild)(?:[.-][\w.-]*)?\.config\.(?:[cm]?[jt]s|json)$/,
  /^(?:vite|vitest|webpack|rollup|rolldown|esbuild|tsup|babel|jest|playwright|next|nuxt|svelte|astro|metro|postcss|tailwind|karma|rspack|swc|tsdown|unbuild)\.config(?:\.[\w-]+)*\.(?:[cm]?[jt]s|json)$/,
  /^requirements(?:[-_.][\w.-]*)?\.(?:txt|in)$/,
  /^(?:dockerfile|containerfile)\./,
  /\.dockerfile$/,
  /^(?:docker-)?compose(?:\.[\w-]+)*\.ya?ml$/,
]

const buildDirectories = [
  /(?:^|\/)\.github\/(?:workflows|actions)\//,
  /(?:^|\/)\.circleci\//,
  /(?:^|\/)\.cargo\/config(?:\.toml)?$/,
  /(?:^|\/)\.mvn\//,
  /(?:^|\/)gradle\/wrapper\//,
  /(?:^|\/)\.husky\//,
]

/** Returns whether a file decides how the project is built, tested, packaged or delivered, by its name. */
export function isBuildFile(path: string): boolean {
  const lower = path.toLowerCase()
  const name = lower.slice(lower.lastIndexOf('/') + 1)
  return (
    buildNames.has(name) ||
    classifyPath(path as LogicalPath).kind === 'LOCKFILE' ||
    buildPatterns.some((pattern) => pattern.test(name)) ||
    buildDirectories.some((directory) => directory.test(lower))
  )
}

/** Words in names that refer to security or permissions. */
const securityWords =
  list(`auth authn authz authenticate authenticated authentication authenticator authorize authorized
  authorization authorizer oauth oauth2 oidc saml sso ldap kerberos login signin signup logout session sessions password
  passwords passwd credential credentials token tokens jwt secret secrets crypto cryptography cipher encrypt encryption
  decrypt decryption signature signatures signing tls ssl x509 cert certs certificate certificates keystore truststore
  permission permissions privilege privileges acl rbac abac iam role roles policy policies security sandbox csrf xsrf cors csp
  sanitize sanitizer sanitization firewall audit mfa totp 2fa vault kms sudo sudoers pam apparmor seccomp selinux`)

const securityNames = list(`codeowners sudoers .htaccess .htpasswd authorized_keys known_hosts nginx.conf httpd.conf
  security.txt .gitleaks.toml .snyk dependabot.yml`)

const securityDirectories = [/(?:^|\/)\.github\/workflows\//, /(?:^|\/)\.husky\//]

/** Returns whether the name of a file or of a parent directory refers to security, or the file may hold a secret. */
export function isSecuritySensitive(path: string): boolean {
  const lower = path.toLowerCase()
  if (securityNames.has(lower.slice(lower.lastIndexOf('/') + 1))) return true
  if (securityDirectories.some((directory) => directory.test(lower))) return true
  if (classifyPath(path as LogicalPath).protection === 'secret') return true
  return path.split('/').some((name) => wordsOf(name).some((word) => securityWords.has(word)))
}

/** Splits `userAuthService.ts` into user, auth, service, ts. Returns nothing for documents: text about security is harmless. */
function wordsOf(name: string): string[] {
  if (/\.(?:md|mdx|markdown|rst|adoc|txt)$/i.test(name)) return []
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]/u)
}

/** Returns whether a file contains tests, by its name and directory. */
export function isTestPath(path: string): boolean {
  const language = languageOf(path)
  if (language === undefined) return false
  const name = path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.'))
  const location = `/${path.toLowerCase()}`
  switch (language) {
    case 'javascript':
      return /\.(?:test|spec|e2e|cy)$/i.test(name) || /\/(?:__tests__|tests?|e2e|specs?)\//.test(location)
    case 'python':
      return /^test_|_tests?$|^(?:conftest|tests)$/.test(name) || /\/tests?\//.test(location)
    case 'go':
      return name.endsWith('_test')
    case 'rust':
      return /(?:^|_)tests?$/.test(name) || /\/(?:tests|benches)\//.test(location)
    case 'java':
      return (
        /(?:Tests?|IT|TestCase|Spec)$|^Test[A-Z]/.test(name) || /\/src\/(?:test|integrationtest|it)\//.test(location)
      )
  }
}
