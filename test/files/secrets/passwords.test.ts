import { describe, expect, it } from 'vitest'
import { mayHoldSecret, redact } from '../../../src/files/secrets/index.ts'

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
    "    password: 'hunter2zz',",
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
    '<input type="password" name="password1">',
    'label[for="password"]:hover { color: #a1b2c3 }',
    '  password: {\n    min: 8\n  }',
    'https://host:8080/a@b and https://user:words@host',
  ])('is not found in code: %j', (text) => {
    expect(secretsIn(text)).toEqual([])
    expect(mayHoldSecret(new TextEncoder().encode(text))).toBe(false)
  })
})
