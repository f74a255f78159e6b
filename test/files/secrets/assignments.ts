/** Names of passwords: for the environment, in configuration, and in programs. */
export const upperNames = ['DB_PASSWORD', 'DB_PASS', 'DB_PWD', 'MYSQL_PWD', 'PASSPHRASE', 'SMTP_PASS', 'KEY_PASSPHRASE']
export const lowerNames = ['password', 'passwd', 'passphrase', 'db_pass', 'smtp-pwd', 'db.password']
export const camelNames = ['dbPass', 'dbPassword', 'keyPassphrase', 'DbPassword', 'userPwd']

const names = [...upperNames, ...lowerNames, ...camelNames]
const variables = [...upperNames, ...['password', 'passwd', 'passphrase', 'db_pass'], ...camelNames]

/** Assignments in files and on command lines: `N` is the name, `V` the value. Each `"` is also tried as `'`, unless another quote is there. */
const rows: readonly (readonly [names: readonly string[], ...forms: string[]])[] = [
  [
    upperNames,
    // Lists.
    '- N=V',
    '- "N=V"',
    '    environment:\n      - N=V\n      - A=b',
    '["N=V"]',
    'env: ["A=b", "N=V"]',
    'env = [ "N=V", "A=b" ]',
    '{"Env":["PATH=/bin","N=V"]}',
    '  "N=V",',
    '[\n  "A=b",\n  "N=V"\n]',
    // Command lines.
    'docker run -e N=V image',
    'docker run --rm -e A=b -e N="V" image',
    'docker run -e "N=V" image',
    'docker run --env N=V image',
    'docker run --env=N=V image',
    'docker build --build-arg N=V .',
    '$ N=V npm start',
    'N="V" npm start',
    'A=b N=V npm start',
    'env N=V npm start',
    'sudo env A=b N=V sh',
    'cd app && N=V npm start',
    'export N=V',
    'export N="V"; npm start',
    'export A=b N=V',
    'export A=b && export N=V && npm start',
    'set N=V',
    'set N=V&& npm start',
    'set "N=V"',
    'setx N V',
    'setx N "V"',
    'setx N V /M',
    '$env:N = "V"',
    '$env:N="V"; npm start',
    '[Environment]::SetEnvironmentVariable("N", "V")',
    'kubectl create secret generic db --from-literal=N=V',
    'Run `N=V npm start`.',
    'RUN N=V ./install.sh',
    'ENV N V',
    'ENV N=V',
    'ENV A=b N=V',
    'ENV N="V"',
    'ENV A=b \\\n    N=V \\\n    C=d',
    'ARG N=V',
    'Environment=N=V',
    'Environment="N=V"',
    '          N: V',
    // Programs.
    'define("N", "V");',
    'os.environ["N"] = "V"',
    'os.environ.setdefault("N", "V")',
    'os.environ.get("N", "V")',
    'process.env.N = "V"',
    'process.env["N"] = "V";',
    'ENV["N"] = "V"',
    'ENV["N"] ||= "V"',
    'setenv("N", "V", 1);',
    'process.env.N ?? "V"',
    'process.env.N || "V",',
  ],
  [
    names,
    '- name: N\n  value: V',
    '- name: N\n  value: "V"',
    '- name: "N"\n  value: "V"',
    '        - name: N\n          value: V # local\n        - name: A\n          value: b',
    '- value: V\n  name: N',
    '- value: "V"\n  name: "N"\n',
    '- {name: N, value: V}',
    '- { name: N, value: "V" }',
    '{"name": "N", "value": "V"}',
    '{"name":"N","value":"V"}',
    '{"value": "V", "name": "N"}',
    '{"Name": "N", "Value": "V"}',
    '{"key": "N", "value": "V"}',
    '{"Key": "N", "Value": "V"}',
    '{"Value":"V","Key":"N"}',
    '[\n  {\n    "name": "A",\n    "value": "b"\n  },\n  {\n    "name": "N",\n    "value": "V"\n  }\n]',
    '{\n  "value": "V",\n  "name": "N"\n}',
    '{\n  "key": "N",\n  "type": "string",\n  "value": "V"\n}',
    '{ name: "N", value: "V" },',
    '{"ParameterKey": "N", "ParameterValue": "V"}',
    'ParameterKey=N,ParameterValue=V',
    'OptionName: N\n    Value: V',
    'name = "N"\nvalue = "V"',
    'name  = "N"\n    value = "V"',
    '<add key="N" value="V"/>',
    '<add key="N"\n     value="V" />',
    '<property name="N" value="V"/>',
    '<property value="V" name="N"/>',
    '<property name="N">V</property>',
    '<entry key="N">V</entry>',
    '<name>N</name><value>V</value>',
    '<property>\n  <name>N</name>\n  <value>V</value>\n</property>',
    '<value>V</value>\n  <name>N</name>',
    '<key>N</key>\n  <string>V</string>',
    '["name" => "N", "value" => "V"]',
    '<N>V</N>',
    '  <N>V</N>\n',
    // Lines of a diff, of a search and of a log.
    '+N=V',
    '-  N = "V"',
    '> N=V',
    '+- name: N\n+  value: V',
    '-    - name: N\n-      value: "V"',
    '+    "name": "N",\n+    "value": "V"',
    'conf/app.yml:3:  N = V',
    'app.env:N=V',
    '12:N = "V"',
    'INFO connects with N=V to port 1',
    // Fields.
    '{"N": "V"}',
    '{"a":1,"N":"V","b":2}',
    'config["N"] = "V"',
    '"N" => "V",',
    '["a" => "b", "N" => "V"]',
    'props.setProperty("N", "V");',
    'props.put("N", "V");',
    'new Pair<>("N", "V")',
    '["N", "V"]',
    '"{\\"N\\": \\"V\\"}"',
    '"N = \\"V\\"\\n",',
    '   "N = \\"V\\"\\n",\n',
    '"N=\\"V\\"\\n",',
    '"import os\\nN = \\"V\\"\\nuser = 1"',
    '"source": ["import os\\n", "N = \\"V\\""]',
    '"os.environ[\\"N\\"] = \\"V\\"\\n",',
    '"%env N=V\\n",',
    'N = "V"',
    'N="V"',
    'N = "V";',
    'N=V',
    'N: "V"',
    '--N=V',
    'run --N=V --port=1',
    '--N V',
    'run --N "V" --port 1',
  ],
  [
    variables,
    ':N => "V"',
    '  :N => "V",',
    'dict(N="V")',
    'connect(user="a", N="V")',
    'connect(\n    user="a",\n    N="V",\n)',
    'connect(user: "a", N: "V")',
    '  N: "V",',
    '<source user="a" N="V"/>',
    '<source user="a"\n        N="V" url="b">',
    '{ user: "a", N: "V" }',
    '$N = "V";',
    'user: a\nN: "V" # local',
    'host=a user=b N=V port=1',
    'Server=a;N=V;Port=1',
    'https://a.example/?user=a&N=V',
  ],
]

/** An assignment of a password, with the value at an offset. */
export interface Assignment {
  readonly form: string
  readonly name: string
  readonly text: string
  readonly value: string
}

/** Every form with every name and value, both quotes, and each end of lines. */
export function* assignmentsOf(values: readonly string[]): Generator<Assignment, void, undefined> {
  for (const [own, ...forms] of rows) {
    for (const form of forms) {
      const quotings = form.includes('"') && !form.includes('\\"') ? [form, form.replaceAll('"', "'")] : [form]
      for (const quoting of quotings) {
        for (const name of own) {
          for (const value of values) {
            const text = quoting.replaceAll(/(?<![A-Za-z]|\\)[NV]\b|(?<=\\n)N\b/g, (letter) =>
              letter === 'N' ? name : value,
            )
            for (const whole of new Set([text, `first\n${text}\n`, `first\r\n${text.replaceAll('\n', '\r\n')}\r\n`]))
              yield { form: quoting, name, text: whole, value }
          }
        }
      }
    }
  }
}
