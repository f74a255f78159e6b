/** A secret and its range in a text, in UTF-16 units. */
export interface Secret {
  readonly kind: string
  readonly start: number
  readonly end: number
}

/**
 * A token that starts with a known prefix. `body` is a regular expression for what follows. It must not be able to
 * backtrack over more than a fixed number of characters: one class with `{n}` or `{n,}`, or several with fixed `{n}`.
 */
export interface PrefixedFormat {
  readonly kind: string
  readonly prefixes: readonly string[]
  readonly body: string
}

/**
 * Formats whose tokens are one run of letters, digits, `_` and `-`, at least {@link SHORTEST_TOKEN} long including the
 * prefix, and do not follow a letter or digit. To add a format, add a row.
 */
export const prefixedFormats: readonly PrefixedFormat[] = [
  {
    kind: 'aws-access-key-id',
    prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    body: '[A-Z0-9]{16}(?:(?![A-Za-z0-9])|(?=A(?:KIA|SIA|BIA|CCA)))',
  },
  { kind: 'github-token', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], body: '[A-Za-z0-9]{36,}' },
  { kind: 'github-token', prefixes: ['github_pat_'], body: '[A-Za-z0-9_]{60,}' },
  {
    kind: 'gitlab-token',
    prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glsoat-', 'glcbt-', 'glft-', 'glimt-', 'glagent-', 'gloas-'],
    body: '[A-Za-z0-9_-]{20,}',
  },
  {
    kind: 'slack-token',
    prefixes: ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxo-', 'xoxe-'],
    body: '[0-9A-Za-z-]{20,}',
  },
  { kind: 'slack-token', prefixes: ['xapp-1-'], body: '[0-9A-Za-z-]{20,}' },
  { kind: 'stripe-key', prefixes: ['sk_live_', 'rk_live_'], body: '[A-Za-z0-9]{16,}' },
  { kind: 'stripe-webhook-secret', prefixes: ['whsec_'], body: '[A-Za-z0-9]{32,}' },
  { kind: 'anthropic-key', prefixes: ['sk-ant-'], body: '[A-Za-z0-9_-]{20,}' },
  { kind: 'openai-key', prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-'], body: '[A-Za-z0-9_-]{20,}' },
  { kind: 'openrouter-key', prefixes: ['sk-or-v1-'], body: '[0-9a-f]{40,}' },
  { kind: 'openai-key', prefixes: ['sk-'], body: '[A-Za-z0-9]{32,}' },
  { kind: 'google-api-key', prefixes: ['AIza'], body: '[A-Za-z0-9_-]{35}(?:(?![A-Za-z0-9_-])|(?=AIza))' },
  { kind: 'google-oauth-secret', prefixes: ['GOCSPX-'], body: '[A-Za-z0-9_-]{28}' },
  { kind: 'npm-token', prefixes: ['npm_'], body: '[A-Za-z0-9]{36,}' },
  { kind: 'pypi-token', prefixes: ['pypi-AgE'], body: '[A-Za-z0-9_-]{50,}' },
  { kind: 'huggingface-token', prefixes: ['hf_'], body: '[A-Za-z0-9]{30,}' },
  { kind: 'digitalocean-token', prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'], body: '[0-9a-f]{64}' },
  { kind: 'twilio-key', prefixes: ['SK'], body: '[0-9a-f]{32}(?:(?![A-Za-z0-9])|(?=SK))' },
  { kind: 'age-key', prefixes: ['AGE-SECRET-KEY-1'], body: '[0-9A-Z]{58}' },
  { kind: 'shopify-token', prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], body: '[0-9A-Fa-f]{32}' },
  { kind: 'square-token', prefixes: ['sq0atp-', 'sq0csp-'], body: '[A-Za-z0-9_-]{22,}' },
  { kind: 'docker-token', prefixes: ['dckr_pat_'], body: '[A-Za-z0-9_-]{27,}' },
  { kind: 'databricks-token', prefixes: ['dapi'], body: '[0-9a-f]{32}(?:(?![A-Za-z0-9])|(?=dapi))' },
  { kind: 'postman-key', prefixes: ['PMAK-'], body: '[0-9a-f]{24}-[0-9a-f]{34}' },
  { kind: 'grafana-token', prefixes: ['glsa_'], body: '[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}' },
  { kind: 'linear-key', prefixes: ['lin_api_', 'lin_oauth_'], body: '[A-Za-z0-9]{40,}' },
  { kind: 'groq-key', prefixes: ['gsk_'], body: '[A-Za-z0-9]{40,}' },
  { kind: 'perplexity-key', prefixes: ['pplx-'], body: '[A-Za-z0-9]{40,}' },
  { kind: 'xai-key', prefixes: ['xai-'], body: '[A-Za-z0-9]{70,}' },
  { kind: 'replicate-token', prefixes: ['r8_'], body: '[A-Za-z0-9]{37,}' },
  { kind: 'supabase-token', prefixes: ['sbp_'], body: '[0-9a-f]{40}' },
  { kind: 'rubygems-key', prefixes: ['rubygems_'], body: '[0-9a-f]{48}' },
  { kind: 'sentry-token', prefixes: ['sntrys_', 'sntryu_'], body: '[A-Za-z0-9_-]{40,}' },
  { kind: 'new-relic-key', prefixes: ['NRAK-'], body: '[A-Z0-9]{27}' },
  { kind: 'atlassian-token', prefixes: ['ATATT3x'], body: '[A-Za-z0-9_-]{60,}' },
  { kind: 'figma-token', prefixes: ['figd_'], body: '[A-Za-z0-9_-]{40}' },
  { kind: 'onepassword-token', prefixes: ['ops_eyJ'], body: '[A-Za-z0-9+/_-]{40,}={0,3}' },
  { kind: 'onepassword-token', prefixes: ['ops_'], body: '[A-Za-z0-9+/]{80,}={0,3}' },
  { kind: 'notion-token', prefixes: ['ntn_'], body: '[A-Za-z0-9]{40,}' },
  { kind: 'notion-token', prefixes: ['secret_'], body: '[A-Za-z0-9]{43}(?:(?![A-Za-z0-9])|(?=secret_))' },
  { kind: 'vercel-token', prefixes: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], body: '[A-Za-z0-9]{24,}' },
  { kind: 'netlify-token', prefixes: ['nfp_'], body: '[A-Za-z0-9]{36,}' },
  { kind: 'planetscale-token', prefixes: ['pscale_tkn_', 'pscale_pw_'], body: '[A-Za-z0-9_-]{32,}' },
  { kind: 'tailscale-key', prefixes: ['tskey-auth-', 'tskey-api-', 'tskey-client-'], body: '[A-Za-z0-9-]{20,}' },
  { kind: 'brevo-key', prefixes: ['xkeysib-'], body: '[0-9a-f]{64}-[A-Za-z0-9]{16}' },
  { kind: 'pulumi-token', prefixes: ['pul-'], body: '[0-9a-f]{40}' },
]

/** The minimum length of the runs that are searched for tokens. */
export const SHORTEST_TOKEN = 20

/** A token recognized by the text right before a run of token characters. */
export interface PrecededFormat {
  readonly kind: string
  /** One of these literals ends where the run starts. Its last two characters serve as a cheap first check. */
  readonly after: readonly string[]
  /** Matches at the start of the run and looks behind for the rest. The rule of {@link PrefixedFormat.body} applies. */
  readonly token: RegExp
  /** Number of leading characters of the match that are not secret. */
  readonly keep?: number
  /** Characters that continue a token of unlimited length, up to eight times, each with more of its characters after it. */
  readonly separators?: string
}

/** Matches after an escape of JSON, a program or a URL, such as `\n`, `\u000a` or `%3D`: a token may start there. */
const AFTER_ESCAPE = String.raw`(?<=\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[a-z0])|%[0-9A-Fa-f]{2})`

/** A token after a prefix that ends with a dot. */
const afterPrefix = (prefix: string, token: string) =>
  new RegExp(`(?<=(?:(?<![A-Za-z0-9])|${AFTER_ESCAPE})${prefix})${token}`, 'y')

/** Formats recognized by the text before the token. To add a format, add a row. */
export const precededFormats: readonly PrecededFormat[] = [
  {
    kind: 'sendgrid-key',
    after: ['SG.'],
    token: afterPrefix(String.raw`SG\.`, String.raw`[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`),
  },
  { kind: 'google-oauth-token', after: ['ya29.'], token: afterPrefix(String.raw`ya29\.`, '[A-Za-z0-9_-]{20,}') },
  { kind: 'vault-token', after: ['hvs.', 'hvb.'], token: afterPrefix(String.raw`hv[sb]\.`, '[A-Za-z0-9_-]{24,}') },
  {
    kind: 'doppler-token',
    after: ['t.', 'a.'],
    token: afterPrefix(String.raw`dp\.[psc][ta]\.`, '[A-Za-z0-9]{40,}'),
  },
  {
    kind: 'telegram-token',
    after: [...'0123456789'].map((digit) => `${digit}:`),
    token: new RegExp(`(?<=(?:(?<![0-9])|${AFTER_ESCAPE})[0-9]{8,10}:)AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])`, 'y'),
  },
  { kind: 'azure-key', after: ['AccountKey='], token: /(?<=AccountKey=)[A-Za-z0-9+/]{86}==/y },
  { kind: 'azure-key', after: ['SharedAccessKey='], token: /(?<=SharedAccessKey=)[A-Za-z0-9+/]{43}=/y },
  {
    kind: 'slack-webhook',
    after: ['hooks.slack.'],
    token: /(?<=hooks\.slack\.)com\/services\/T[A-Z0-9]{8,12}\/B[A-Z0-9]{8,12}\/[A-Za-z0-9]{24}/y,
    keep: 'com/services/'.length,
  },
  {
    kind: 'discord-webhook',
    after: ['discord.', 'discordapp.'],
    token: /(?<=discord(?:app)?\.)com\/api\/webhooks\/[0-9]{17,20}\/[A-Za-z0-9_-]{60,}/y,
    keep: 'com/api/webhooks/'.length,
  },
  {
    // An opaque token contains a digit; words and placeholders do not.
    kind: 'authorization',
    after: ['earer ', 'EARER ', 'oken ', 'asic '],
    token:
      /(?<=authorization["'`]?[ \t]{0,4}[:=,][ \t]{0,4}["'`]?(?:bearer|token|basic) )(?=[a-z_/+-]{0,80}[0-9])[a-z0-9_/+-]{20,}/iy,
    separators: '.~=',
  },
]

/**
 * The parts of tokens that marks leave visible because runs of token characters start after them, by kind. Each matches at the
 * end of the text before the mark. A piece of a token may start in them.
 */
export const visiblePrefixes: ReadonlyMap<string, RegExp> = new Map([
  ['sendgrid-key', /SG\.$/],
  ['google-oauth-token', /ya29\.$/],
  ['vault-token', /hv[sb]\.$/],
  ['doppler-token', /dp\.[psc][ta]\.$/],
  ['telegram-token', /[0-9]{8,10}:$/],
])

/** The value of an assignment to a name such as `aws_secret_access_key`; matches at the start of a run of 40. */
export const awsSecretKey =
  /(?<=(?:secret[_-]?access[_-]?key|aws[_-]?secret(?:[_-]?key)?)["'`\]]{0,2}[ \t]{0,8}(?:=>|:=|[:=,])[ \t]{0,8}["'`]?)[a-z0-9/+]{40}(?![a-z0-9/+=_-])/iy

/** A key with the name of its data centre; matches at the start of a run. */
export const mailchimpKey = /[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])/y

/** Matches a possible Discord token, whose first part decodes to a number of 17 to 20 digits. */
export const discordToken = /([MNO][A-Za-z0-9_-]{22,27})\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27}/y

/** URL schemes of services, whose URLs often contain a password. That of another one is recognized if it does not look like a word. */
export const schemesWithPassword: ReadonlySet<string> = new Set(
  `postgres postgresql mysql mysqlx mariadb mongodb redis rediss amqp amqps mssql sqlserver oracle clickhouse
  cockroachdb neo4j bolt nats mqtt mqtts ldap ldaps smtp smtps imap imaps ftp ftps sftp`.split(/\s+/),
)

/** Placeholders for a password in examples. */
export const placeholderPasswords: ReadonlySet<string> = new Set(['password', 'passwd', 'pass', 'pwd'])
