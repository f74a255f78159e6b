import { describe, expect, it } from 'vitest'
import { mayHoldSecret, redact } from '../../../src/files/secrets/index.ts'
import { lineHasSecret } from '../../../src/files/secrets/prefilter.ts'
import { unfinishedStart } from '../../../src/files/secrets/unfinished.ts'
import { redactChanged } from '../../../src/git/redact-diff.ts'
import { byteText } from '../../../src/util/native-bytes.ts'
import { everyNth } from '../../counts.ts'
import { assignmentsOf } from './assignments.ts'

const secretsIn = (text: string): string[] =>
  redact(text).marks.map(({ originalStart, originalEnd }) => text.slice(originalStart, originalEnd))

const PASSWORDS = [
  'hunter2zz',
  'k7%rT!e2',
  'Tr0ub4dor&3',
  's3cr3t-horse',
  'p@ssPhrase',
  'Zx9#mQ4~wL',
  'a1b2c3d4e5f6g7h8',
]

/** Forms of an assignment. `V` is the value. */
const FORMS = [
  'password = "V"',
  "password = 'V'",
  'password="V"\n',
  'PASSWORD="V" # the database',
  'DB_PASSWORD=V',
  'export DB_PASSWORD=V\n',
  'export DB_PASSWORD="V"',
  'ENV POSTGRES_PASSWORD=V',
  '[db]\npassword = "V"\nport = 5432\n',
  'password: V\n',
  'password: "V"\r\n',
  "db:\n  password: 'V'\n",
  '- name: POSTGRES_PASSWORD\n- DB_PASSWD=V',
  '  - POSTGRES_PASSWORD=V\n',
  '{"user":"app","password":"V","port":1}',
  '{\n  "dbPassword": "V"\n}',
  '"db.password" : "V",',
  'spring.datasource.password=V',
  'spring.datasource.password: V',
  '<password>V</password>',
  '<db.password>V</db.password>',
  'jdbc:mysql://db/app?user=a&password=V',
  'Server=db;Password=V;',
  'admin_passwd := "V"',
  'https://user:V@git.example/x.git',
  'url: postgresql+psycopg2://user:V@db/app',
  'libsql://user:V@db.example',
  'any+driver.of://user:V@h',
  'git clone https://user:V@git.example/x.git',
]

describe('an assigned password', () => {
  it.each(FORMS)('is a secret in %j', (form) => {
    for (const password of PASSWORDS) {
      // Some characters end the value in a form without quotes.
      if (/&/.test(password) && !/["']V/.test(form)) continue
      if (form.includes('://user') && /[^a-z0-9-]/i.test(password)) continue
      const text = form.replace(/\bV\b/, () => password)
      expect(secretsIn(text)).toEqual([password])
      expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(true)
    }
  })

  const assignments = everyNth([...assignmentsOf(['hunter2secret', 'k7%rT!e2', 'a1b2c3d4e5f6'])], 15)

  it(`is a secret in each of ${assignments.length} usual forms, in a text, in bytes, on its line and in a diff`, () => {
    const wrong = assignments.filter(({ text, value }) => {
      const bytes = new TextEncoder().encode(text)
      const at = text.indexOf(value)
      const [start, end] = [text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at)]
      const unmarked = { text: text.replace(/pass|pwd/i, 'user'), marks: [] }
      return (
        secretsIn(text).join() !== value ||
        !mayHoldSecret(bytes) ||
        !lineHasSecret(bytes, start, end === -1 ? text.length : end) ||
        redactChanged(text, unmarked).text !== redact(text).text
      )
    })
    expect(wrong).toEqual([])
  })

  it('is as secret in bytes as in the text if other characters than those of ASCII are around it', () => {
    const others = ['\ufeff', '\u00a0', 'à', '…', '日本', 'é'.repeat(40), ' п'.repeat(32), '·'.repeat(5), '😀']
    const wrong: string[] = []
    let marked = 0
    for (const [index, { text: plain, value }] of everyNth(assignments, 3).entries()) {
      for (let at = 0; at <= plain.length; at++) {
        const text = plain.slice(0, at) + (others[(index + at) % others.length] as string) + plain.slice(at)
        const from = text.indexOf(value)
        if (from === -1 || !secretsIn(text).includes(value)) continue
        marked += 1
        const [bytes, before] = [Buffer.from(text), Buffer.byteLength(text.slice(0, text.lastIndexOf('\n', from) + 1))]
        const end = bytes.indexOf('\n', before)
        const line = lineHasSecret(bytes, before, end === -1 ? bytes.length : end)
        const isFound = secretsIn(byteText(bytes)).includes(value)
        if (!mayHoldSecret(bytes) || !line || !isFound) wrong.push(text)
      }
    }
    expect(wrong).toEqual([])
    expect(marked).toBeGreaterThan(1000)
  })

  it('is as secret in a text that comes part by part', () => {
    const wrong = everyNth(assignments, 5).filter(({ text }, index) => {
      const size = 1 + (index % 13)
      const whole = `${text}\nnext line\nlast line`
      let [held, shown] = ['', '']
      for (let at = 0; at < whole.length; at += size) {
        held += whole.slice(at, at + size)
        const start = unfinishedStart(held)
        shown += redact(held.slice(0, start)).text
        held = held.slice(start)
      }
      return shown + redact(held).text !== redact(whole).text
    })
    expect(wrong).toEqual([])
  })

  it('shows a line with a value once the fields next to it are complete', () => {
    const list = Array.from({ length: 50 }, (_, index) => `- name: A${index}\n  value: hunter${index}\n`).join('')
    expect(list.length - unfinishedStart(list)).toBeLessThan(60)
    for (const prompt of ['Enter a value: ', 'Project name: ', 'Continue? (y, n) '])
      expect(prompt.length - unfinishedStart(prompt)).toBeLessThanOrEqual(0)
  })

  const VALUES = [
    '',
    'password',
    'Password1',
    'your-password',
    'your_password_here1',
    'changeme',
    'change-me-2024',
    'xxxxxxxx',
    '********',
    'example1',
    '<password>',
    '<your password 1>',
    '$DB_PASSWORD1',
    '$' + '{DB_PASSWORD1}',
    '$' + '(cat /run/secrets/db1)',
    '{{ db_password1 }}',
    '{{password1}}',
    '%DB_PASSWORD1%',
    'process.env.DB_PASSWORD1',
    "os.environ['DB_PASS1']",
    'getenv("DB_PASS1")',
    'secrets.DB_PASSWORD1',
    'vault:secret/data/db1#password',
    'ENC[AES256,data:abc123]',
    'file:/run/secrets/db1',
    '/run/secrets/db1',
    '[REDACTED:password:1]',
    'null',
    'true',
    '12345678',
    'string',
    'required',
    'Forgotten?',
    'Passwort *',
    'at least 8 characters',
    'short',
  ]
  it.each(VALUES)('is not found in %j', (value) => {
    for (const form of FORMS) {
      if (form.includes('://user')) continue
      expect(secretsIn(form.replace(/\bV\b/, () => value))).toEqual([])
    }
  })

  it.each([
    'const password = "hunter2zz"',
    'let password = user1',
    'this.password = hunter2zz',
    'self.password = hunter2zz',
    'connect(user=a, password=hunter2zz)',
    'if (password === "hunter2zz") return',
    'password: z.string().min(8)',
    'password?: string2',
    'password: Uint8Array',
    'password = config.password1',
    'password = await readSecret1()',
    'password_hash: "a1b2c3d4e5"',
    'passwordField = "field1"',
    'password == "hunter2zz"',
    'bypassword1 and a password: of 8 characters',
    'Enter your password: hunter2zz in the form',
    '"password": true, "passwords": ["a1b2c3"]',
    'password:hunter2zz',
    'password: string',
    'const password = await prompt1()',
    'passphrase = getPassphrase1()',
    'connect(process.env.DB_PASSWORD, "hunter2zz")',
    `DB_PASS: $\{{ secrets.DB_PASS1 }}`,
    `- "DB_PASS=$\{DB_PASS1}"`,
    `<password>$\{db.password1}</password>`,
    '<property name="password">%db1.password%</property>',
    'pass: true, bypass = 3, password: null',
    'pass: test-number-1',
    'PASS: 12ms-of-a-test',
    'bypass = "hunter2zz" and compass="hunter2zz"',
    '- name: pass-through\n  value: someVariable1',
    '- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: db1-secret',
    '- name: DB_USER\n  value: hunter2zz\n- name: DB_PASSWORD\n  valueFrom: x',
    '- value: a\n  name: DB_PASSWORD\n- value: hunter2zz\n  name: DB_USER',
    '{ name: "password", value: field1 }, { name: "password", value: form.password1 }',
    '{"key":"user","value":"hunter2zz"},{"key":"password","value":"your-password1"}',
    '["user", "password", "hunter2zz"]',
    'expect(fields).toEqual(["password", "sha256", "md5crypt"])',
    'a.password===b.password1&&a.pass!==b.pass1 || c.ownPass==d.ownPass1',
    '  ownPass: !!ownPass1',
    '  toPass: info?.toPass1',
    'pwd = /home/user1/project',
    'PWD=/home/user1 OLDPWD=/home/user2 make',
    '--password <password1> --pass --retry=3',
    'set -e; DB_PASSWORD=$1 PASSPHRASE="$(cat /run/key1)" npm start',
    'input[name="password"] { color: "a1b2c3" }',
    'for="password">Passwort1!</label>',
    '<input type="password" name="password1">',
    'label[for="password"]:hover { color: #a1b2c3 }',
    '  password: {\n    min: 8\n  }',
    'https://host:8080/a@b and https://user:words@host',
  ])('is not found in code: %j', (text) => {
    expect(secretsIn(text)).toEqual([])
    expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(false)
  })
})
