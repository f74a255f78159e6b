import type { RiskFlag } from '../../../src/policy/risk/flags.ts'

/** A change of a file and whether it raises a flag. `null`: the file does not exist. */
export interface RiskCase {
  readonly flag: RiskFlag
  readonly language: 'TypeScript' | 'JavaScript' | 'Python' | 'Go' | 'Rust' | 'Java' | 'any'
  readonly title: string
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  readonly raised: boolean
}

type Language = RiskCase['language']

function names(flag: RiskFlag, language: Language, raised: boolean, ...paths: string[]): RiskCase[] {
  return paths.map((path) => ({ flag, language, title: path, path, before: 'a\n', after: 'b\n', raised }))
}

/** A deleted file whose content does not show that it held tests. */
function testPaths(language: Language, raised: boolean, ...paths: string[]): RiskCase[] {
  return paths.map((path) => ({
    flag: 'deletesOrSkipsTests',
    language,
    title: `${path} deleted`,
    path,
    before: '\n',
    after: null,
    raised,
  }))
}

const build = 'touchesBuildFile'
const secure = 'touchesSecuritySensitivePath'

/** Cases that depend on paths only. */
export const pathCases: readonly RiskCase[] = [
  ...names(
    build,
    'TypeScript',
    true,
    'tsconfig.json',
    'packages/a/tsconfig.build.json',
    'vite.config.ts',
    'vitest.config.mts',
    'vitest.workspace.ts',
  ),
  ...names(build, 'TypeScript', false, 'src/tsconfig.ts', 'docs/tsconfig.md', 'src/vite.ts'),
  ...names(
    build,
    'JavaScript',
    true,
    'package.json',
    'app/webpack.config.js',
    'webpack.prod.config.js',
    'Gruntfile.js',
    'package-lock.json',
    'wrangler.toml',
  ),
  ...names(build, 'JavaScript', false, 'src/package.js', 'package.json.md', 'src/config.js'),
  ...names(build, 'Python', true, 'pyproject.toml', 'setup.py', 'requirements-dev.txt', 'lib/tox.ini'),
  ...names(build, 'Python', false, 'src/setup_db.py', 'requirements.md', 'pyproject.py'),
  ...names(build, 'Go', true, 'go.mod', 'tools/go.mod', 'go.work'),
  ...names(build, 'Go', false, 'mod.go', 'go/mod.txt'),
  ...names(build, 'Rust', true, 'Cargo.toml', 'crates/a/Cargo.toml', 'build.rs', '.cargo/config.toml'),
  ...names(build, 'Rust', false, 'src/cargo.rs', 'src/rebuild.rs'),
  ...names(build, 'Java', true, 'pom.xml', 'app/build.gradle.kts', 'gradle/wrapper/gradle-wrapper.properties', 'mvnw'),
  ...names(build, 'Java', false, 'src/main/java/Pom.java', 'docs/gradle.md'),
  ...names(
    build,
    'any',
    true,
    'Makefile',
    'makefile',
    'Dockerfile',
    'Dockerfile.dev',
    '.github/workflows/ci.yml',
    'compose.prod.yaml',
    'BUILD.bazel',
    '.gitlab-ci.yml',
  ),
  ...names(build, 'any', false, 'docs/Makefile.md', 'README.md', 'src/docker.ts', 'github/workflows.md'),

  ...names(secure, 'TypeScript', true, 'src/auth/index.ts', 'src/userPermissions.ts', 'src/JWTVerifier.ts'),
  ...names(secure, 'TypeScript', false, 'src/author.ts', 'src/authored-by.ts', 'src/tokenizer.ts', 'src/app.ts'),
  ...names(secure, 'JavaScript', true, 'lib/csrf.js', 'lib/session-store.js'),
  ...names(secure, 'JavaScript', false, 'lib/obsession.js', 'lib/keyboard.js'),
  ...names(secure, 'Python', true, 'app/crypto/aes.py', 'app/password_hash.py'),
  ...names(secure, 'Python', false, 'app/cryptic_messages.py', 'app/passenger.py'),
  ...names(secure, 'Go', true, 'internal/rbac/check.go', 'pkg/tls_config.go'),
  ...names(secure, 'Go', false, 'pkg/rolex.go', 'internal/titles.go'),
  ...names(secure, 'Rust', true, 'src/sandbox.rs', 'src/oauth2/mod.rs'),
  ...names(secure, 'Rust', false, 'src/sandwich.rs', 'src/lexer.rs'),
  ...names(secure, 'Java', true, 'src/main/java/a/SecurityConfig.java', 'src/main/java/a/LoginController.java'),
  ...names(secure, 'Java', false, 'src/main/java/a/Blog.java', 'src/main/java/a/Signal.java'),
  ...names(secure, 'any', true, '.env', 'CODEOWNERS', '.github/workflows/ci.yml', 'deploy/nginx.conf', 'certs/a.pem'),
  ...names(secure, 'any', false, 'docs/security.md', 'README.md', 'data/table.csv'),

  ...names(
    build,
    'any',
    true,
    ...['vitest.workspace.mts', 'jest.workspace.json', 'tsconfig.a.b.json', 'jsconfig.json'],
    ...['vite.config.a.b.ts', 'vite.config.prod.mts', 'webpack-prod.config.mjs', 'webpack.a.b.config.json'],
    ...['requirements.txt', 'requirements_a.b.in', 'containerfile.dev', 'deploy/app.Dockerfile'],
    ...['compose.yml', 'docker-compose.yaml', 'compose.a.b.yaml', 'a/.github/actions/b/action.yml'],
    ...['.GitHub/Workflows/ci.yml', '.circleci/config.yml', 'a/.circleci/b', '.cargo/config', 'a/.cargo/config.toml'],
    ...['.mvn/jvm.config', 'a/.mvn/b', 'a/gradle/wrapper/b', '.husky/pre-commit', 'a/.husky/b', 'composer.lock'],
  ),
  ...names(
    build,
    'any',
    false,
    ...['my-vitest.workspace.ts', 'vitest.workspace.ts.md', 'my-tsconfig.json', 'tsconfig.json.md', 'tsconfig-a.json'],
    ...['my-webpack.a.config.js', 'webpack.a.config.js.md', 'my-vite.config.a.ts', 'vite.config.a.ts.md'],
    ...['my-requirements.txt', 'requirements.txt.md', 'my-containerfile.dev', 'app.dockerfile.md', 'appdockerfile'],
    ...[
      'decompose.yml',
      'compose.yml.md',
      'a.github/workflows/b',
      'a.circleci/b',
      'a.cargo/config',
      '.cargo/config.md',
    ],
    ...['a.mvn/b', 'mygradle/wrapper/b', 'a.husky/b'],
  ),
  ...names(
    secure,
    'any',
    true,
    ...['.GitHub/Workflows/ci.yml', 'a/.github/workflows/b', '.husky/pre-commit', 'a/.husky/b', 'id_rsa', '.npmrc'],
    ...['auth.md.ts', 'auth/readme.md', 'a/HTTPTokenStore', 'x2Token.go', 'höheAuth.ts', 'security.txt', '.snyk'],
  ),
  ...names(
    secure,
    'any',
    false,
    ...['a.github/workflows/b', 'a.husky/b', 'auth.mdx', 'login.TXT', 'authö.ts', 'oauth3.ts', 'auth1.ts'],
  ),

  ...testPaths(
    'JavaScript',
    true,
    ...['a.test.js', 'a.spec.tsx', 'a.e2e.mjs', 'a.Cy.cjs', 'test/a.js', 'b/Tests/a.ts', 'spec/a.js', 'specs/a.js'],
    ...['b/__tests__/a.ts', 'e2e/a.ts'],
  ),
  ...testPaths('JavaScript', false, 'atest.js', 'test.js', 'a.test.b.ts', 'contest/a.ts', 'testing/a.ts', 'a.specs.ts'),
  ...testPaths(
    'Python',
    true,
    ...['test_a.py', 'test_a.pyi', 'a_test.py', 'a_tests.py', 'b/conftest.py', 'tests.py', 'test/a.py', 'b/tests/a.py'],
  ),
  ...testPaths(
    'Python',
    false,
    'latest_a.py',
    'a_test_b.py',
    'myconftest.py',
    'tests1.py',
    'atests.py',
    'contest/a.py',
  ),
  ...testPaths('Go', true, 'a_test.go', 'b/a_test.go'),
  ...testPaths('Go', false, 'test.go', 'a_test_b.go', 'test/a.go'),
  ...testPaths(
    'Rust',
    true,
    ...['tests/a.rs', 'b/benches/a.rs', 'src/tests.rs', 'src/test.rs', 'src/a_test.rs', 'src/a_tests.rs'],
  ),
  ...testPaths('Rust', false, 'mytests/a.rs', 'src/latest.rs', 'src/test_util.rs', 'test/a.rs'),
  ...testPaths(
    'Java',
    true,
    ...['src/test/java/A.java', 'a/src/it/java/A.java', 'src/integrationTest/java/A.java', 'ATest.java', 'ATests.java'],
    ...['AIT.java', 'ATestCase.java', 'ASpec.java', 'TestA.java'],
  ),
  ...testPaths('Java', false, 'Testing.java', 'MyTestA.java', 'ATester.java', 'a_src/test/A.java', 'Atest.java'),

  { flag: 'deletesFile', language: 'any', title: 'deleted', path: 'a.txt', before: 'a\n', after: null, raised: true },
  { flag: 'deletesFile', language: 'any', title: 'emptied', path: 'a.txt', before: 'a\n', after: '', raised: false },
  { flag: 'deletesFile', language: 'any', title: 'created', path: 'a.txt', before: null, after: 'a\n', raised: false },
]
