/** What a number field takes. */
export interface NumberKind {
  readonly min: number
  readonly isWhole?: boolean
  /** Whether it is an amount of money, which may be written with its sign. */
  readonly isMoney?: boolean
}

/** A number that a person has typed, or a sentence about what is wrong. */
export type TypedNumber = { readonly number: number } | { readonly wrong: string }

/** The powers of ten that letters stand for. A factor would give 1004999.9999999999 for 1.005m. */
const powers: Readonly<Record<string, number>> = { k: 3, m: 6 }

/** Reads what is meant without doubt. A point or a comma before three digits may be a decimal one or separate thousands. */
export function parseNumber(typed: string, { min, isWhole = false, isMoney = false }: NumberKind): TypedNumber {
  const trimmed = typed.trim().toLowerCase()
  const text = isMoney ? trimmed.replace(/^\$\s*/, '').replace(/(?<!\s)\s*(\$|dollars?|usd)$/, '') : trimmed
  if (text === '') return { wrong: 'Enter a number.' }
  if (/^[\d.,]+[km]?$/.test(text) && isAmbiguous(text)) {
    const example = isWhole ? '1500 or 100k' : '1500 or 0.5'
    return { wrong: `It is not clear what ${typed.trim()} means. Write numbers such as ${example}.` }
  }
  // The pattern takes the square of the length.
  if (text.length > 60) return { wrong: `${typed.trim()} is not a number.` }
  const [, digits = '', suffix = ''] =
    /^(-?(?:\d+|\d{1,3}(?:[ _\u00a0]\d{3})+|\d{1,3}(?:,\d{3}){2,})?(?:(?<=\d)\.?|\.(?=\d))\d*(?:e[+-]?\d+)?)\s?([km]?)$/.exec(
      text,
    ) ?? []
  const [mantissa = '', power = '0'] = digits.replaceAll(/[ _,\u00a0]/g, '').split('e')
  const number = digits === '' ? Number.NaN : Number(`${mantissa}e${Number(power) + (powers[suffix] ?? 0)}`)
  if (!Number.isFinite(number)) return { wrong: `${typed.trim()} is not a number.` }
  if (number < min) return { wrong: `Enter ${min.toLocaleString('en')} or more.` }
  if (isWhole && !Number.isSafeInteger(number)) return { wrong: 'Enter a whole number.' }
  return { number }
}

/** Writes a number so that it is read as the same one. */
export function numberText(number: number): string {
  const text = String(number)
  return isAmbiguous(text) ? `${text}0` : text
}

function isAmbiguous(text: string): boolean {
  if (/^[1-9]\d{0,2}\.\d{3}[km]?$/.test(text)) return true
  return text.includes(',') ? !/^\d{1,3}(,\d{3}){2,}(\.\d+)?[km]?$/.test(text) : /\..*\./.test(text)
}
